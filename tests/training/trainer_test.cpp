#include "training/trainer.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/manifest.h"
#include "base/sha256.h"
#include "data/sample/sample_corpus.h"
#include "models/model_folder.h"
#include "models/model_tensors.h"
#include "report/metrics_log.h"
#include "support/compressed.h"
#include "support/error_of.h"
#include "training/presets.h"
#include "training/vocabularies.h"

namespace dragoman::training {
namespace {

using models::TransformerConfig;

namespace fs = std::filesystem;

class TrainerTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("dragoman_trainer_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    data::SampleCorpusOptions corpus;
    corpus.size = 300;
    corpus.output = folder_ / "corpus";
    data::write_sample_corpus(corpus);
  }
  void TearDown() override { fs::remove_all(folder_); }

  TrainOptions options(const std::string& name) const {
    TrainOptions options = preset_options("tiny");
    options.source = {folder_ / "corpus/train.en"};
    options.target = {folder_ / "corpus/train.de"};
    options.valid_source = {folder_ / "corpus/valid.en"};
    options.valid_target = {folder_ / "corpus/valid.de"};
    options.model_folder = folder_ / name;
    options.model = options.model.with<TransformerConfig>([](auto& shape) {
      shape.d_model = 16;
      shape.d_ff = 32;
      shape.n_heads = 2;
      shape.encoder_layers = shape.decoder_layers = 1;
    });
    options.vocabulary.size = 300;
    options.batch.batch_tokens = 1200;
    options.batch.max_length = 100;
    options.batch.window_sentences = 100;
    options.run.max_steps = 14;
    options.run.validate_every = 4;
    options.run.log_every = 1;
    options.run.average = 0;
    options.run.keep_last = 100;
    options.run.workers = 2;
    options.run.ema_decay = 0.9;
    return options;
  }

  StopReason train(TrainOptions options, int64_t max_steps) {
    options.run.max_steps = max_steps;
    std::ostringstream terminal;
    Trainer trainer(options, terminal);
    const StopReason reason = trainer.run();
    log_ = terminal.str();
    return reason;
  }

  std::string message_of(const TrainOptions& options) {
    try {
      train(options, 2);
    } catch (const base::Error& error) {
      return error.what();
    }
    return "no error";
  }

  fs::path folder_;
  std::string log_;
};

std::string checkpoint_hash(const fs::path& model, int64_t step, const char* file) {
  return base::sha256_file(checkpoint_folder(model, step) / file);
}

std::vector<double> losses(const fs::path& model) {
  std::vector<double> losses;
  for (const report::TrainRow& row : report::read_metrics(model / "metrics.jsonl").train) {
    losses.push_back(row.loss);
  }
  return losses;
}

TEST_F(TrainerTest, ResumingAtAnyStepEqualsNeverStopping) {
  for (const int64_t accumulate : {1, 2}) {
    TrainOptions straight = options("straight" + std::to_string(accumulate));
    straight.batch.accumulate = accumulate;
    straight.batch.subword_sampling = 0.1;
    straight.loss.rdrop = accumulate == 2 ? 5.0 : 0.0;
    straight.adam.optimizer = accumulate == 2 ? OptimizerKind::kMuon : OptimizerKind::kAdam;
    straight.model = straight.model.with<TransformerConfig>(
        [](auto& shape) { shape.source_word_dropout = shape.target_word_dropout = 0.1F; });
    straight.run.log_every = 3;  // rows that sum up updates before and after a stop
    ASSERT_EQ(train(straight, 14), StopReason::kMaxSteps);
    for (const int64_t stop : {1, 4, 5, 7, 13}) {
      TrainOptions resumed = straight;
      resumed.model_folder = folder_ / fmt::format("resumed{}_{}", accumulate, stop);
      train(resumed, stop);
      train(resumed, 14);
      EXPECT_EQ(losses(resumed.model_folder), losses(straight.model_folder)) << "stopped after step " << stop;
      for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
        EXPECT_EQ(checkpoint_hash(resumed.model_folder, 14, file), checkpoint_hash(straight.model_folder, 14, file))
            << file << ", stopped after step " << stop;
      }
      EXPECT_EQ(base::sha256_file(resumed.model_folder / "model.safetensors"),
                base::sha256_file(straight.model_folder / "model.safetensors"))
          << "the best model, stopped after step " << stop;
    }
  }
}

TEST_F(TrainerTest, AListenerHearsOfEachUpdateAndMayEndTheRun) {
  TrainOptions listened = options("listened");
  std::vector<int64_t> updates, validations;
  const auto run = [&](int64_t last) {
    std::ostringstream terminal;
    Trainer trainer(listened, terminal);
    trainer.listen({.on_update =
                        [&](const report::Progress& progress) {
                          updates.push_back(progress.step);
                          return progress.step < last;
                        },
                    .on_validation = [&](const report::ValidationRow& row) { validations.push_back(row.step); }});
    return trainer.run();
  };
  EXPECT_EQ(run(5), StopReason::kRequested);
  EXPECT_EQ(updates, (std::vector<int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(validations.front(), 4);
  updates.clear();
  EXPECT_EQ(run(100), StopReason::kMaxSteps) << "the same run goes on";
  EXPECT_EQ(updates.front(), 6);
}

TEST_F(TrainerTest, ABatchFittedToMemoryIsKeptWhenTheRunIsResumed) {
  TrainOptions whole = options("whole");
  whole.run.ema_decay = 0.0;
  whole.model = whole.model.with<TransformerConfig>([](auto& shape) {
    shape.d_model = 64;
    shape.d_ff = 256;
  });
  whole.batch.batch_tokens = 20'000;  // activations of some hundred MiB: the size of this process is not so exact
  whole.batch.fit = true;
  whole.run.memory = uint64_t{1} << 40;
  std::ostringstream terminal;
  MemoryPlan plan;
  {
    const Trainer trainer(whole, terminal);
    plan = trainer.plan().value();
  }
  EXPECT_EQ(plan.batch_tokens, 20'000) << "no more than asked for, however much memory there is";
  EXPECT_EQ(plan.accumulate, 1);

  // Stopped, and resumed where there is far more memory; then where nobody says how much.
  TrainOptions resumed = whole;
  resumed.model_folder = folder_ / "resumed";
  resumed.run.memory = plan.peak() - plan.activations / 2;
  train(resumed, 2);
  EXPECT_NE(log_.find("activations grow by"), std::string::npos) << log_;
  const report::MetricsHistory history = report::read_metrics(resumed.model_folder / "metrics.jsonl");
  ASSERT_EQ(history.memory.size(), 1U);
  const report::MemoryRow cut = history.memory[0];
  EXPECT_GT(cut.accumulate, 1) << "half of the activations fit";
  EXPECT_GE(cut.batch_tokens * cut.accumulate, 20'000);
  resumed.run.memory *= 100;
  train(resumed, 4);
  resumed.run.memory = 0;
  train(resumed, 6);

  // The same batches asked for by number.
  TrainOptions straight = whole;
  straight.model_folder = folder_ / "straight";
  straight.run.memory = 0;
  straight.batch.fit = false;
  straight.batch.batch_tokens = cut.batch_tokens;
  straight.batch.accumulate = cut.accumulate;
  train(straight, 6);
  EXPECT_EQ(losses(resumed.model_folder), losses(straight.model_folder));
  EXPECT_EQ(checkpoint_hash(resumed.model_folder, 6, "optimizer.safetensors"),
            checkpoint_hash(straight.model_folder, 6, "optimizer.safetensors"));
}

TEST_F(TrainerTest, TheFolderHoldsWhatIsPromised) {
  const TrainOptions run = options("model");
  train(run, 14);
  for (const char* file : {"config.json", "model.safetensors", "vocabulary.spm", "manifest.json", "metrics.jsonl",
                           "report.html", "checkpoints/step-4/manifest.json", "checkpoints/step-14/state.json"}) {
    EXPECT_TRUE(fs::exists(run.model_folder / file)) << file;
  }
  const report::MetricsHistory history = report::read_metrics(run.model_folder / "metrics.jsonl");
  EXPECT_EQ(history.train.size(), 14U);
  ASSERT_EQ(history.validation.size(), 4U);
  EXPECT_EQ(history.validation.back().step, 14) << "the last weights are looked at, between two validations or not";
  EXPECT_EQ(history.damaged_lines, 0);
  EXPECT_NE(log_.find("pairs of lines read"), std::string::npos) << log_;
}

TEST_F(TrainerTest, TwoPassesNameBothPartsOfTheLoss) {
  TrainOptions plain = options("plain"), rdrop = options("rdrop"), simcut = options("simcut");
  rdrop.loss.rdrop = 5.0;
  simcut.loss.simcut = 3.0;
  train(plain, 4);
  EXPECT_EQ(log_.find(" kl "), std::string::npos) << log_;
  const report::TrainRow without = report::read_metrics(plain.model_folder / "metrics.jsonl").train.front();
  EXPECT_TRUE(std::isnan(without.kl));
  for (const TrainOptions& twice : {rdrop, simcut}) {
    log_.clear();
    train(twice, 4);
    EXPECT_NE(log_.find(" kl "), std::string::npos) << log_;
    const report::TrainRow with = report::read_metrics(twice.model_folder / "metrics.jsonl").train.front();
    EXPECT_GT(with.kl, 0.0);
    EXPECT_NEAR(with.loss, without.loss, 0.05 * without.loss) << "the loss is the cross-entropy";
  }
  rdrop.loss.simcut = 3.0;
  EXPECT_NE(test_support::error_of([&] { rdrop.check(); }).find("choose one"), std::string::npos);
}

TEST_F(TrainerTest, TheTimeOfAllPartsOfARunIsCountedTogether) {
  TrainOptions run = options("model");
  run.run.total_minutes = 1.0 / 60;
  run.run.patience = 0;
  EXPECT_EQ(train(run, 1'000'000), StopReason::kTotalTime);
  EXPECT_NE(log_.find("finished: the time of the run is used up"), std::string::npos) << log_;
  const std::vector<int64_t> steps = list_checkpoints(run.model_folder);
  EXPECT_EQ(train(run, 1'000'000), StopReason::kTotalTime) << "a finished run stays finished";
  EXPECT_EQ(list_checkpoints(run.model_folder), steps);
  run.run.total_minutes = 100;
  EXPECT_EQ(train(run, steps.back() + 1), StopReason::kMaxSteps) << "more time lets it go on";
}

TEST_F(TrainerTest, AveragingAtTheEndKeepsTheBetterModel) {
  TrainOptions run = options("model");
  run.run.average = 3;
  run.run.ema_decay = 0.0;
  run.run.log_every = 100;  // the last step is still to be shown when the end comes
  train(run, 14);
  const size_t average = log_.find("average of 3 checkpoints"), last_step = log_.rfind("step ");
  ASSERT_NE(average, std::string::npos) << log_;
  EXPECT_LT(last_step, average) << "the last step comes before what is said about the end: " << log_;
}

// The last update is not one that is followed by a validation; while the loss falls, the average is better than the
// last that was, and worse than the end.
TEST_F(TrainerTest, AFinishedRunThatIsStartedAgainKeepsItsModel) {
  TrainOptions run = options("model");
  run.run.average = 2;
  run.run.metric = ValidationMetric::kLoss;
  run.run.ema_decay = 0.0;
  run.schedule.warmup_steps = 1;
  train(run, 14);
  ASSERT_NE(log_.find("the best checkpoint stays the model"), std::string::npos) << log_;
  const std::string model = base::sha256_file(run.model_folder / "model.safetensors");
  train(run, 14);
  EXPECT_NE(log_.find("the best checkpoint stays the model"), std::string::npos) << log_;
  EXPECT_EQ(base::sha256_file(run.model_folder / "model.safetensors"), model) << log_;
}

TEST_F(TrainerTest, WithoutValidationTextTheAverageIsTheModelAndHasNoScores) {
  TrainOptions run = options("model");
  run.valid_source.clear();
  run.valid_target.clear();
  run.run.average = 2;
  train(run, 8);
  EXPECT_NE(log_.find("average of 2 checkpoints: it is the model now"), std::string::npos) << log_;
}

TEST_F(TrainerTest, ACheckpointIsNotTuned) {
  const TrainOptions run = options("model");
  train(run, 2);
  const fs::path checkpoint = checkpoint_folder(run.model_folder, 2);
  EXPECT_THROW(models::store_decoding(checkpoint, "{}"), base::Error);
  EXPECT_TRUE(fs::exists(checkpoint / "optimizer.safetensors"));
  EXPECT_NO_THROW(models::store_decoding(run.model_folder, "{}"));
}

TEST_F(TrainerTest, OldCheckpointsAreRemoved) {
  TrainOptions run = options("model");
  run.run.keep_last = 1;
  run.run.keep_best = 0;
  train(run, 14);
  EXPECT_EQ(list_checkpoints(run.model_folder), (std::vector<int64_t>{14}));
}

TEST_F(TrainerTest, ARunThatIsWorseThanGuessingIsCalledDiverged) {
  TrainOptions run = options("model");
  run.schedule = {ScheduleKind::kConstant, 5.0, 1};
  run.run.validate_every = 1000;
  train(run, 204);
  EXPECT_NE(log_.find("the run has probably diverged"), std::string::npos) << log_;
  const size_t first = log_.find("diverged");
  EXPECT_EQ(log_.find("diverged", first + 1), std::string::npos) << "said once: " << log_;
  run = options("good");
  run.run.validate_every = 1000;
  train(run, 204);
  EXPECT_EQ(log_.find("diverged"), std::string::npos) << log_;
}

TEST_F(TrainerTest, AnotherRecipeOrTextIsRefused) {
  TrainOptions run = options("model");
  train(run, 2);
  TrainOptions other = run;
  other.loss.label_smoothing = 0.2;
  EXPECT_NE(message_of(other).find("\"label_smoothing\": 0.1 is now \"label_smoothing\": 0.2"), std::string::npos)
      << message_of(other);
  std::ofstream(run.source.front(), std::ios::app) << "One more line.\n";
  std::ofstream(run.target.front(), std::ios::app) << "Noch eine Zeile.\n";
  EXPECT_NE(message_of(run).find("the training text has changed"), std::string::npos) << message_of(run);
}

TEST_F(TrainerTest, LanguagesStayWhereTextFilesDoNotSayTheirs) {
  const std::string pair = "{\"source\": \"en\", \"target\": \"de\"}";
  train(options("first"), 1);
  const auto languages_of = [&](const std::string& name) {
    const std::string text = models::read_model_folder(folder_ / name).languages;
    return text.empty() ? nlohmann::json() : nlohmann::json::parse(text);
  };
  EXPECT_EQ(languages_of("first"), nlohmann::json::parse(pair)) << "by train.en and train.de";
  TrainOptions tuned = options("tuned");
  tuned.initial_model = folder_ / "first";
  for (const char* side : {"en", "de"}) {
    fs::copy_file(folder_ / "corpus" / ("train." + std::string(side)), folder_ / (std::string(side) + ".txt"));
  }
  tuned.source = {folder_ / "en.txt"};
  tuned.target = {folder_ / "de.txt"};
  train(tuned, 1);
  EXPECT_EQ(languages_of("tuned"), nlohmann::json::parse(pair));
  EXPECT_NE(log_.find("the languages stay en to de"), std::string::npos) << log_;
  train(tuned, 2);
  EXPECT_EQ(languages_of("tuned"), nlohmann::json::parse(pair)) << "resumed";
  TrainOptions back = options("back");
  back.initial_model = folder_ / "first";
  std::swap(back.source, back.target);
  train(back, 1);
  EXPECT_EQ(languages_of("back"), nlohmann::json::parse("{\"source\": \"de\", \"target\": \"en\"}"))
      << "the names of the files say more";
  TrainOptions both = options("both");
  both.initial_model = folder_ / "first";
  both.source.push_back(both.target.front());
  both.target.push_back(both.source.front());
  train(both, 1);
  EXPECT_EQ(languages_of("both"), nlohmann::json()) << "both directions, so no pair";
  TrainOptions anew = tuned;
  anew.initial_model.clear();
  anew.model_folder = folder_ / "anew";
  anew.valid_source.clear();
  anew.valid_target.clear();
  train(anew, 1);
  EXPECT_EQ(languages_of("anew"), nlohmann::json());
  TrainOptions student = options("student");
  student.source = tuned.source;
  student.target = tuned.target;
  train(student, 1);
  EXPECT_EQ(languages_of("student"), nlohmann::json::parse(pair)) << "by valid.en and valid.de";
  TrainOptions students = options("students");
  students.source = {tuned.source.front(), tuned.target.front()};
  students.target = {tuned.target.front(), tuned.source.front()};
  train(students, 1);
  EXPECT_EQ(languages_of("students"), nlohmann::json()) << "of both directions";
  models::ModelFiles several = models::read_model_folder(folder_ / "first");
  several.languages = "{\"sources\": {\"en\": \"eng_Latn\"}, \"targets\": {\"de\": \"deu_Latn\"}}";
  models::publish_model_folder(folder_ / "several", several);
  TrainOptions of_several = tuned;
  of_several.initial_model = folder_ / "several";
  of_several.model_folder = folder_ / "of_several";
  of_several.valid_source.clear();
  of_several.valid_target.clear();
  train(of_several, 1);
  EXPECT_EQ(languages_of("of_several"), nlohmann::json()) << "the texts need not begin with its codes";
}

TEST(FirstDifference, NamesTheKeyThatChangedCameOrWent) {
  const std::string before = "{\n  \"a\": 1,\n  \"c\": 3\n}";
  EXPECT_EQ(first_difference(before, "{\n  \"a\": 1,\n  \"c\": 4\n}"), "\"c\": 3 is now \"c\": 4");
  const std::string more = "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}";
  EXPECT_EQ(first_difference(before, more), "no \"b\" is now \"b\": 2");
  EXPECT_EQ(first_difference(more, before), "\"b\": 2 is now no \"b\"");
}

// Older versions wrote floats as the doubles that they are.
TEST_F(TrainerTest, ARunBegunByAnOlderVersionGoesOn) {
  const TrainOptions run = options("model");
  train(run, 2);
  const fs::path checkpoint = checkpoint_folder(run.model_folder, 2);
  std::string recipe = base::read_file(checkpoint / "recipe.json");
  const std::string now = "\"dropout\": 0.3,";
  ASSERT_NE(recipe.find(now), std::string::npos) << recipe;
  recipe.replace(recipe.find(now), now.size(), "\"dropout\": 0.30000001192092896,");
  base::write_file_atomic(checkpoint / "recipe.json", recipe);
  base::Manifest manifest = base::manifest_from_text(base::read_file(checkpoint / base::kManifestName), "manifest");
  manifest.files["recipe.json"] = {recipe.size(), base::sha256_hex(recipe)};
  base::write_file_atomic(checkpoint / base::kManifestName, base::to_text(manifest));
  train(run, 4);
  EXPECT_TRUE(fs::exists(checkpoint_folder(run.model_folder, 4)));
  TrainOptions other = run;
  other.model = other.model.with<TransformerConfig>([](auto& shape) { shape.dropout = 0.1F; });
  EXPECT_NE(message_of(other).find("\"dropout\": 0.3 is now \"dropout\": 0.1"), std::string::npos) << message_of(other);
}

// The text is what counts, not the names of its files or how they are compressed.
TEST_F(TrainerTest, GoesOnWithTheSameTextInOtherFiles) {
  TrainOptions run = options("model");
  run.run.average = 3;
  train(run, 8);
  const fs::path packed = folder_ / "packed.gz", renamed = folder_ / "renamed.txt";
  std::ofstream(packed, std::ios::binary) << test_support::gzip(base::read_file(run.source.front()));
  fs::copy_file(run.target.front(), renamed);
  run.source = {packed};
  run.target = {renamed};
  train(run, 12);
  EXPECT_NE(log_.find("resuming after step 8"), std::string::npos) << log_;
  EXPECT_NE(log_.find("average of 3 checkpoints"), std::string::npos) << log_;
  TrainOptions straight = options("straight");
  straight.run.average = 3;
  train(straight, 12);
  EXPECT_EQ(checkpoint_hash(run.model_folder, 12, "model.safetensors"),
            checkpoint_hash(straight.model_folder, 12, "model.safetensors"));
}

TEST_F(TrainerTest, StartsFromAModelThatIsThere) {
  train(options("first"), 4);
  TrainOptions run = options("second");
  run.initial_model = folder_ / "first";
  run.model = run.model.with<TransformerConfig>([](auto& shape) {
    shape.d_model = 64;  // the shape and the vocabulary are those of the model
    shape.dropout = 0.25F;
  });
  run.vocabulary.size = 100;
  run.run.seed = 2;
  {
    const tensor::NamedTensors expected = models::read_model_folder(run.initial_model).tensors;
    std::ostringstream terminal;
    Trainer trainer(run, terminal);
    for (const auto& [path, values] : models::named_tensors(trainer.model().parameters())) {
      EXPECT_TRUE(std::ranges::equal(values.span<float>(), expected.at(path).span<float>())) << path;
    }
  }
  train(run, 4);
  EXPECT_NE(log_.find("starting from the weights, shape and vocabulary of"), std::string::npos) << log_;
  EXPECT_EQ(base::read_file(folder_ / "first/vocabulary.spm"), base::read_file(folder_ / "second/vocabulary.spm"));
  const auto config = models::transformer_config_from_json(base::read_file(folder_ / "second/config.json"), "config");
  EXPECT_EQ(config.d_model, 16);
  EXPECT_EQ(config.dropout, 0.25F);
  // What was begun does not need the first model any more.
  fs::remove_all(folder_ / "first");
  train(run, 8);
  EXPECT_NE(log_.find("resuming after step 4"), std::string::npos) << log_;
}

TEST_F(TrainerTest, AModelToStartFromMustBeOneThatCanBeTrained) {
  TrainOptions run = options("second");
  run.initial_model = folder_ / "nothing";
  EXPECT_NE(message_of(run).find("nothing"), std::string::npos) << message_of(run);
  train(options("first"), 2);
  run.initial_model = folder_ / "first";
  run.model_folder = folder_ / "first/../first";
  EXPECT_NE(message_of(run).find("name another folder for the new model"), std::string::npos) << message_of(run);
}

TEST_F(TrainerTest, AModelToStartFromBringsItsVocabulary) {
  train(options("first"), 2);
  TrainOptions run = options("second");
  run.initial_model = folder_ / "first";
  run.tokenizer = folder_ / "first/vocabulary.spm";
  EXPECT_NE(message_of(run).find("has its own vocabulary; leave out --tokenizer"), std::string::npos)
      << message_of(run);
}

TEST_F(TrainerTest, WhatHasNoEffectIsRefused) {
  TrainOptions run = options("model");
  run.masks.mask_share = 0.3;
  EXPECT_NE(message_of(run).find("--mask-share is of no use to task translation"), std::string::npos);
  run = options("model");
  run.whole_texts.group_pairs = 5;
  EXPECT_NE(message_of(run).find("--group-pairs is of no use to task translation"), std::string::npos);
  run = options("model");
  run.running_text.valid_share = 0.1;
  EXPECT_NE(message_of(run).find("--valid-share takes validation text from --text"), std::string::npos);
  run = options("model");
  run.vocabulary.type = data::VocabularyOptions::Type::kCharacters;
  EXPECT_NE(message_of(run).find(
                "--vocab-type is characters, which task translation does not learn; choose one of unigram, bpe"),
            std::string::npos);
}

// A score that is never measured would keep the first model.
TEST_F(TrainerTest, AMetricThatIsNotMeasuredIsRefused) {
  TrainOptions run = options("model");
  run.run.metric = ValidationMetric::kAccuracy;
  EXPECT_NE(message_of(run).find("--metric accuracy is not measured by task translation; choose bleu, chrf, loss"),
            std::string::npos)
      << message_of(run);
}

TEST_F(TrainerTest, UnequalTextsAreRefusedBeforeAnything) {
  TrainOptions run = options("model");
  std::ofstream(run.source.front(), std::ios::app) << "One more line.\n";
  const std::string message = message_of(run);
  EXPECT_NE(message.find("has 276 lines"), std::string::npos) << message;
  EXPECT_NE(message.find("has 275"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(run.model_folder));
}

TEST_F(TrainerTest, ASecondRunOnTheSameFolderIsRefused) {
  const TrainOptions run = options("model");
  std::ostringstream terminal;
  const Trainer first(run, terminal);
  EXPECT_NE(message_of(run).find("in use by process"), std::string::npos) << message_of(run);
}

TEST_F(TrainerTest, ADamagedNewestCheckpointIsPassedOver) {
  const TrainOptions run = options("model");
  train(run, 8);
  const fs::path weights = checkpoint_folder(run.model_folder, 8) / "model.safetensors";
  std::string bytes = base::read_file(weights);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  std::ofstream(weights, std::ios::binary) << bytes;
  train(run, 8);
  EXPECT_NE(log_.find("resuming after step 4"), std::string::npos) << log_;
}

TEST_F(TrainerTest, TwentyNonFiniteUpdatesInARowEndTheRun) {
  TrainOptions run = options("model");
  run.run.max_steps = 100;
  run.run.validate_every = 1000;
  std::ostringstream terminal;
  Trainer trainer(run, terminal);
  trainer.model().parameters().mutable_values().fill(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(trainer.run(), base::Error);
  EXPECT_EQ(trainer.state().step, 20);
  EXPECT_TRUE(list_checkpoints(run.model_folder).empty()) << "non-finite weights were saved";
}

}  // namespace
}  // namespace dragoman::training
