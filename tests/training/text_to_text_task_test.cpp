// Span corruption and text to text: a tiny T5 learns, resumes bit for bit, and is fine-tuned with its vocabulary.
#include "training/text_to_text_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "models/model_folder.h"
#include "report/metrics_log.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "training/presets.h"
#include "training/tasks.h"
#include "training/trainer.h"

namespace dragoman::training {
namespace {

using test_support::error_of;
using testing::HasSubstr;

class TextToText : public testing::Test {
 protected:
  TextToText() {
    const char* animals[] = {"cat", "dog", "mouse", "horse"};
    const char* verbs[] = {"sees", "hears", "finds"};
    std::ofstream text(path("text.txt")), valid(path("valid.txt")), pairs(path("pairs.tsv"));
    for (int line = 0; line < 240; ++line) {
      const std::string first = animals[line % 4], second = animals[line / 4 % 4], verb = verbs[line % 3];
      (line % 8 == 7 ? valid : text) << "the " << first << " " << verb << " the " << second << " near the old tree .\n";
      pairs << "turn: " << first << " " << verb << "\t" << verb << " " << first << "\n";
    }
  }

  std::filesystem::path path(const char* name) const { return folder_.path() / name; }

  TrainOptions options(const char* model, int64_t steps, const std::string& task = "") const {
    TrainOptions options = preset_options("t5-mini", task);
    options.text = {path("text.txt")};
    options.valid_text = {path("valid.txt")};
    options.model_folder = path(model);
    options.model = options.model.with<models::TransformerConfig>([](auto& shape) {
      shape.d_model = 32;
      shape.d_ff = 64;
      shape.n_heads = 2;
      shape.encoder_layers = shape.decoder_layers = 1;
      shape.dropout = 0.0F;
    });
    options.vocabulary.size = 60;
    options.schedule.warmup_steps = 10;
    options.schedule.learning_rate = 5e-3;
    options.schedule.max_steps = options.run.max_steps = steps;
    options.run.validate_every = std::max<int64_t>(1, steps / 3);
    options.run.workers = 1;
    options.batch.batch_tokens = 512;
    return options;
  }

  static std::vector<float> train(const TrainOptions& options) {
    distributed::SingleProcess alone;
    std::ostringstream terminal;
    Trainer trainer(options, nullptr, alone, terminal);
    EXPECT_EQ(trainer.run(), StopReason::kMaxSteps) << terminal.str();
    return trainer.model().parameters().values().to_vector<float>();
  }

  double loss_of(const char* model, bool first) const {
    const auto metrics = report::read_metrics(path(model) / "metrics.jsonl");
    return first ? metrics.validation.front().loss : metrics.validation.back().loss;
  }

  test_support::TemporaryFolder folder_;
};

TEST_F(TextToText, SpanCorruptionLearns) {
  train(options("m", 90));
  EXPECT_LT(loss_of("m", false), 0.8 * loss_of("m", true));
}

TEST_F(TextToText, ResumedIsNeverStopped) {
  const std::vector<float> whole = train(options("whole", 9));
  train(options("halves", 5));
  EXPECT_EQ(train(options("halves", 9)), whole);
}

TEST_F(TextToText, AnUpdateMixesTasks) {
  const auto order_of = [](const char* task) { return preset_options("t5-mini", task).batch.batch_order; };
  EXPECT_EQ(order_of("text-to-text"), data::BatchOrder::kRandom);
  EXPECT_EQ(order_of("span-corruption"), data::BatchOrder::kLength);
  EXPECT_EQ(order_of("translation"), data::BatchOrder::kLength);
}

TEST_F(TextToText, AModelIsFineTunedWithItsOwnVocabulary) {
  train(options("before", 30));
  TrainOptions tuned = options("after", 120, "text-to-text");
  tuned.text = tuned.valid_text = {path("pairs.tsv")};
  tuned.initial_model = path("before");
  train(tuned);
  EXPECT_LT(loss_of("after", false), 0.5 * loss_of("after", true));
  EXPECT_EQ(models::read_model_folder(path("after")).vocabularies,
            models::read_model_folder(path("before")).vocabularies);
}

TEST_F(TextToText, WrongFilesAreRefused) {
  TrainOptions wrong = options("m", 9);
  wrong.source = {path("text.txt")};
  EXPECT_THAT(error_of([&] { static_cast<void>(make_task(wrong)); }), HasSubstr("--source and --target are for"));
  wrong = options("m", 9, "text-to-text");
  EXPECT_THAT(error_of([&] { static_cast<void>(make_task(wrong)); }), HasSubstr("text.txt:1: has 1 fields"));
  wrong.text.clear();
  EXPECT_THAT(error_of([&] { static_cast<void>(make_task(wrong)); }), HasSubstr("--text names the text"));
}

}  // namespace
}  // namespace dragoman::training
