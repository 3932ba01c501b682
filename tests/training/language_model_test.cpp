// Laws of training a language model: the same trainer as for translation, another task.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/sha256.h"
#include "data/token_text.h"
#include "decoding/load_model.h"
#include "decoding/text_scorer.h"
#include "models/decoder_only/decoder_only_config.h"
#include "report/metrics_log.h"
#include "support/temporary_folder.h"
#include "training/checkpoint.h"
#include "training/presets.h"
#include "training/trainer.h"

namespace dragoman::training {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

class LanguageModelTest : public testing::Test {
 protected:
  LanguageModelTest() {
    std::ofstream text(folder_.path() / "text.txt");
    std::ofstream valid(folder_.path() / "valid.txt");
    for (int line = 0; line < 300; ++line) {
      const char* animals[] = {"cat", "dog", "cow"};
      const char* does[] = {"sleeps", "runs"};
      (line < 270 ? text : valid) << "the " << animals[line % 3] << " " << does[line / 3 % 2] << ".\n"
                                  << (line % 10 == 9 ? "\n" : "");
    }
  }

  TrainOptions options(const std::string& name, const std::string& preset = "gpt-mini") const {
    TrainOptions options = preset_options(preset);
    options.text = {folder_.path() / "text.txt"};
    options.valid_text = {folder_.path() / "valid.txt"};
    options.model_folder = folder_.path() / name;
    options.model = options.model.with<models::DecoderOnlyConfig>([](auto& shape) {
      shape.layers = 1;
      shape.d_model = 16;
      shape.d_ff = 32;
      shape.n_heads = 2;
      shape.max_positions = 24;
    });
    options.batch.max_length = 24;
    options.batch.batch_tokens = 240;
    options.batch.window_sentences = 64;
    options.schedule.warmup_steps = 5;
    options.schedule.kind = ScheduleKind::kInverseSqrt;  // a cosine would end with the updates of each part of a run
    options.run.max_steps = 14;
    options.run.validate_every = 4;
    options.run.log_every = 1;
    options.run.keep_last = 100;
    options.run.workers = 2;
    return options;
  }

  void train(TrainOptions options, int64_t max_steps) {
    options.run.max_steps = max_steps;
    std::ostringstream terminal;
    Trainer(options, terminal).run();
    log_ = terminal.str();
  }

  std::string message_of(const TrainOptions& options) {
    try {
      train(options, 2);
    } catch (const base::Error& error) {
      return error.what();
    }
    return "no error";
  }

  static report::MetricsHistory metrics(const TrainOptions& options) {
    return report::read_metrics(options.model_folder / "metrics.jsonl");
  }

  test_support::TemporaryFolder folder_;
  std::string log_;
};

TEST_F(LanguageModelTest, ResumingEqualsNeverStopping) {
  for (const char* preset : {"gpt-mini", "llama-mini"}) {
    const TrainOptions straight = options(std::string("straight-") + preset, preset);
    train(straight, 14);
    for (const int64_t stop : {3, 4, 13}) {
      TrainOptions resumed = straight;
      resumed.model_folder = folder_.path() / fmt::format("resumed-{}-{}", preset, stop);
      train(resumed, stop);
      train(resumed, 14);
      for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
        EXPECT_EQ(base::sha256_file(checkpoint_folder(resumed.model_folder, 14) / file),
                  base::sha256_file(checkpoint_folder(straight.model_folder, 14) / file))
            << preset << ": " << file << ", stopped after step " << stop;
      }
    }
  }
}

TEST_F(LanguageModelTest, ItLearnsTheTextAndWritesIt) {
  TrainOptions run = options("learns");
  run.schedule.learning_rate = 1e-2;
  run.run.validate_every = 100;
  train(run, 300);
  const report::MetricsHistory history = metrics(run);
  EXPECT_LT(history.validation.back().loss, 0.35) << "nats a character; what animal comes and what it does is drawn";
  EXPECT_NEAR(history.validation.back().perplexity, std::exp(history.validation.back().loss), 1e-9);
  EXPECT_THAT(log_, HasSubstr("bits per byte"));
  const auto generator = decoding::load_generator(run.model_folder);
  const decoding::GenerationRequest request{.prompt = "the cat "};
  decoding::GenerationOptions options;
  options.max_tokens = 8;
  options.stop = {"\n"};
  const std::string text = generator->generate({&request, 1}, options).front().text;
  EXPECT_TRUE(text == "sleeps." || text == "runs.") << text;
}

TEST_F(LanguageModelTest, TheLossOfAValidationIsThatOfTheText) {
  TrainOptions run = options("loss");
  train(run, 4);
  const auto generator = decoding::load_generator(run.model_folder);
  std::ifstream file(run.valid_text.front());
  const std::string valid(std::istreambuf_iterator<char>(file), {});
  const data::TokenText text = data::encode_documents({valid}, generator->vocabulary(), 1);
  const decoding::TextScore score = decoding::score_text(generator->model(), text, {.window = 24, .stride = 24});
  // The last window of a validation begins where the one before ends; that of a score reaches back.
  EXPECT_NEAR(metrics(run).validation.back().loss, score.loss(), 5e-3);
  EXPECT_TRUE(generator->vocabulary().special().eos.empty()) << "a whole file needs no end of text";
}

TEST_F(LanguageModelTest, DocumentsGetAnEndOfTextAndByteBpeIsLearned) {
  TrainOptions run = options("bpe");
  run.vocabulary.type = data::VocabularyOptions::Type::kByteBpe;
  run.vocabulary.size = 270;
  run.running_text.documents = data::DocumentKind::kBlankLine;
  run.running_text.across_documents = false;
  train(run, 6);
  const auto generator = decoding::load_generator(run.model_folder);
  EXPECT_EQ(generator->vocabulary().special().eos.size(), 1U);
  EXPECT_LE(generator->vocabulary().size(), 270);
  EXPECT_THAT(log_, HasSubstr("27 documents"));
}

TEST_F(LanguageModelTest, TheLastShareOfTheTextMayBeTheValidationText) {
  TrainOptions run = options("share");
  run.valid_text.clear();
  run.running_text.valid_share = 0.1;
  train(run, 4);
  EXPECT_EQ(metrics(run).validation.size(), 1U);
  run.valid_text = {folder_.path() / "valid.txt"};
  run.model_folder = folder_.path() / "both";
  EXPECT_THAT(message_of(run), HasSubstr("--valid-text and --valid-share"));
}

TEST_F(LanguageModelTest, AModelGoesOnWithOtherText) {
  const TrainOptions first = options("first");
  train(first, 5);
  TrainOptions second = options("second");
  second.initial_model = first.model_folder;
  std::ofstream(folder_.path() / "other.txt") << "the cow runs.\nthe cow runs.\nthe cow runs.\n";
  second.text = {folder_.path() / "other.txt"};
  train(second, 5);
  EXPECT_THAT(log_, HasSubstr("starting from the weights"));
}

TEST_F(LanguageModelTest, OnlyMatricesDecay) {
  TrainOptions run = options("decay");
  run.schedule = {ScheduleKind::kConstant, 1e-30, 0, 100, 0.01, 16};  // the decay alone would move nothing either
  run.schedule.learning_rate = 1e-3;
  run.adam.weight_decay = 0.9;
  nn::ParameterSet parameters;
  static_cast<void>(parameters.declare("matrix", {4, 8}, nn::Initializer::kOnes));
  static_cast<void>(parameters.declare("gain", {8}, nn::Initializer::kOnes));
  static_cast<void>(parameters.declare("other", {2, 8}, nn::Initializer::kOnes));
  parameters.allocate();
  parameters.initialize(1);
  Optimizer adam(run.adam, parameters);
  const tensor::Tensor gradients = tensor::Tensor::zeros({parameters.flat_size()});
  adam.update(parameters.mutable_values(), gradients, {0, parameters.flat_size()}, adam.scalars(0.5, 1.0, 1));
  EXPECT_FLOAT_EQ(parameters.find("matrix").variable.value().to_vector<float>().front(), 0.55F);
  EXPECT_FLOAT_EQ(parameters.find("gain").variable.value().to_vector<float>().front(), 1.0F);
  EXPECT_FLOAT_EQ(parameters.find("other").variable.value().to_vector<float>().back(), 0.55F);
}

TEST_F(LanguageModelTest, WhatIsWrongIsNamed) {
  TrainOptions run = options("wrong");
  run.text.clear();
  EXPECT_THAT(message_of(run), HasSubstr("--text names the text of task language-model"));
  run = options("wrong");
  run.source = {folder_.path() / "text.txt"};
  EXPECT_THAT(message_of(run), HasSubstr("--source and --target are for translation"));
  run = options("wrong");
  run.batch.max_length = 25;
  EXPECT_THAT(message_of(run), HasSubstr("--max-length is 25, must be 2 to 24, the positions of the model"));
  std::ofstream(folder_.path() / "one.txt") << "x";
  run = options("wrong");
  run.text = {folder_.path() / "one.txt"};
  EXPECT_THAT(message_of(run), HasSubstr("at least 2 are needed"));
  run = options("wrong");
  run.valid_text = {folder_.path() / "one.txt"};
  EXPECT_THAT(message_of(run), HasSubstr("validation text: 1 token, at least 2 are needed"));
  std::ofstream(folder_.path() / "none.txt") << "";
  run = options("wrong");
  run.text = {folder_.path() / "none.txt"};
  EXPECT_THAT(message_of(run), HasSubstr("holds no text"));
}

TEST(LanguageModelPresets, AreModelsOfADecoderAloneAndChooseByLoss) {
  for (const char* name : {"gpt-mini", "gpt-char", "gpt2-small", "llama-mini"}) {
    const TrainOptions options = preset_options(name);
    EXPECT_EQ(options.task, "language-model") << name;
    EXPECT_EQ(options.model.architecture(), "decoder-only") << name;
    EXPECT_EQ(options.run.metric, ValidationMetric::kLoss) << name;
  }
  EXPECT_THROW(preset_options("gpt-mini-prenorm"), base::Error);
}

}  // namespace
}  // namespace dragoman::training
