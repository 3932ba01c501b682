// Laws of training encoders: classes of texts and pairs, tags of words, hidden pieces; the start from another model;
// what is refused.
#include "training/encoder_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/sha256.h"
#include "data/text/text_file.h"
#include "decoding/load_model.h"
#include "decoding/text_labeler.h"
#include "evaluation/evaluate.h"
#include "models/architectures/architectures.h"
#include "report/metrics_log.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "tensor/transfer.h"
#include "training/checkpoint.h"
#include "training/presets.h"
#include "training/trainer.h"

namespace dragoman::training {
namespace {

using base::ErrorKind;
using models::EncoderHead;
using testing::HasSubstr;

constexpr const char* kAnimals[] = {"cat", "dog", "cow", "hen"};
constexpr const char* kDoes[] = {"sleeps", "runs", "eats"};
constexpr const char* kPlaces[] = {"barn", "yard", "field", "house", "wood"};

class EncoderTasks : public testing::Test {
 protected:
  EncoderTasks() {
    std::string classes, pairs, tags, plain;
    for (int line = 0; line < 240; ++line) {
      const std::string animal = kAnimals[line % 4], does = kDoes[line % 3];
      const bool is_night = line % 5 < 2;
      const std::string sentence = fmt::format("the {} {} at {} .", animal, does, is_night ? "night" : "noon");
      classes += fmt::format("{}\t{}\n", is_night ? "night" : "day", sentence);
      pairs += fmt::format("{}\tthe {} {}\t{} at night\n", line % 7 < 4 ? "same" : "other", animal, does,
                           line % 7 < 4 ? "it sleeps" : "the others");
      tags += fmt::format("the\tO\n{}\tB-ANIMAL\n{}\tB-ACT\nat\tI-ACT\n\n", animal, does);
      plain += sentence + "\n";
    }
    write("classes.tsv", classes);
    write("pairs.tsv", pairs);
    write("tags.tsv", tags);
    write("plain.txt", plain);
    write("meanings.tsv", meanings());
  }

  // Pairs of which no two have a text in common.
  static std::string meanings() {
    std::string pairs;
    for (int line = 0; line < 60; ++line) {
      const std::string animal = kAnimals[line % 4], does = kDoes[line / 4 % 3], where = kPlaces[line / 12];
      pairs += fmt::format("the {} {} in the {}\t{} : {} {}\n", animal, does, where, where, does, animal);
    }
    return pairs;
  }

  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

  TrainOptions options(const std::string& task, const std::string& text, const std::string& model) const {
    TrainOptions options = preset_options("bert-mini", task);
    options.text = {path(text)};
    options.valid_text = {path(text)};
    options.model_folder = path(model);
    options.model = options.model.with<models::EncoderOnlyConfig>([](auto& shape) {
      shape.layers = 1;
      shape.d_model = 32;
      shape.d_ff = 64;
      shape.n_heads = 2;
      shape.max_positions = 32;
    });
    options.vocabulary.size = 120;
    options.batch.max_length = 32;
    options.batch.batch_tokens = 200;
    options.batch.window_sentences = 64;
    options.whole_texts.group_pairs = 10;
    options.schedule = {.kind = ScheduleKind::kInverseSqrt, .learning_rate = 3e-3, .warmup_steps = 20};
    options.run.validate_every = 4;
    options.run.log_every = 1;
    options.run.keep_last = 100;
    options.run.workers = 2;
    options.precision = kernels::Precision::kFloat32;  // on every machine
    return options;
  }

  // Returns: what the run said.
  static std::string train(TrainOptions options, int64_t steps) {
    options.run.max_steps = steps;
    std::ostringstream terminal;
    Trainer(options, terminal).run();
    return terminal.str();
  }

  static double last_accuracy(const TrainOptions& options) {
    return report::read_metrics(options.model_folder / report::kMetricsName).validation.back().accuracy;
  }

  test_support::TemporaryFolder folder_;
};

struct TaskAndText {
  const char* task;
  const char* text;
  double accuracy;  // that 150 updates reach
};
constexpr TaskAndText kTasks[] = {{"classify", "classes.tsv", 99.0},
                                  {"classify", "pairs.tsv", 99.0},
                                  {"tag", "tags.tsv", 99.0},
                                  {"masked-language-model", "plain.txt", 45.0},
                                  {"embed", "meanings.tsv", 90.0}};

class EncoderTasksInPrecision : public EncoderTasks, public testing::WithParamInterface<kernels::Precision> {
 protected:
  TrainOptions options(const std::string& task, const std::string& text, const std::string& model) const {
    TrainOptions options = EncoderTasks::options(task, text, model);
    options.precision = GetParam();
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Training, EncoderTasksInPrecision,
                         testing::Values(kernels::Precision::kFloat32, kernels::Precision::kBFloat16),
                         [](const auto& of) { return std::string(kernels::name_of(of.param)); });

TEST_P(EncoderTasksInPrecision, EachLearnsItsText) {
  for (const TaskAndText& task : kTasks) {
    TrainOptions run = options(task.task, task.text, fmt::format("learns-{}-{}", task.task, task.text));
    run.run.validate_every = 50;
    const std::string said = train(run, 150);
    EXPECT_GT(last_accuracy(run), task.accuracy) << task.task << " " << task.text << "\n" << said;
    EXPECT_THAT(said, HasSubstr("accuracy ")) << task.task;
  }
}

TEST_P(EncoderTasksInPrecision, ResumedIsNeverStopped) {
  for (const TaskAndText& task : kTasks) {
    const TrainOptions whole = options(task.task, task.text, fmt::format("whole-{}-{}", task.task, task.text));
    train(whole, 9);
    TrainOptions halves = whole;
    halves.model_folder = path(fmt::format("halves-{}-{}", task.task, task.text));
    train(halves, 5);
    train(halves, 9);
    for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
      EXPECT_EQ(base::sha256_file(checkpoint_folder(halves.model_folder, 9) / file),
                base::sha256_file(checkpoint_folder(whole.model_folder, 9) / file))
          << task.task << " " << task.text << ": " << file;
    }
  }
}

TEST_F(EncoderTasks, WorkersDoNotChangeTheLoss) {
  for (const TaskAndText& task : kTasks) {
    std::vector<double> losses;
    for (const int workers : {1, 3}) {
      TrainOptions run = options(task.task, task.text, fmt::format("workers-{}-{}-{}", workers, task.task, task.text));
      run.run.workers = workers;
      train(run, 4);
      losses.push_back(report::read_metrics(run.model_folder / report::kMetricsName).train.back().loss);
    }
    EXPECT_NEAR(losses[0], losses[1], 1e-4 * losses[0]) << task.task << ": dropout masks, too, are the same";
  }
}

TEST_F(EncoderTasks, ModelsAnswerAsTheyWereTrained) {
  TrainOptions run = options("classify", "classes.tsv", "classes");
  run.run.validate_every = 50;
  train(run, 100);
  const decoding::TextLabeler classes = decoding::load_labeler(run.model_folder, EncoderHead::kClasses, "classify");
  EXPECT_EQ(classes.labels().names(), (std::vector<std::string>{"day", "night"}));
  const data::TextOrPair texts[] = {{"the cat runs at night .", {}}, {"the hen eats at noon .", {}}};
  const decoding::TextClasses found = classes.classify(texts);
  EXPECT_EQ(classes.labels().name(found.best(0)), "night");
  EXPECT_EQ(classes.labels().name(found.best(1)), "day");

  run = options("tag", "tags.tsv", "tags");
  run.run.validate_every = 50;
  train(run, 100);
  const decoding::TextLabeler tagger = decoding::load_labeler(run.model_folder, EncoderHead::kTags, "tag");
  const std::vector<std::string> words[] = {{"the", "cow", "eats", "at"}};
  std::vector<std::string> names;
  const decoding::WordTags found_tags = tagger.tag(words)[0];
  for (const int32_t tag : found_tags.tags) {
    names.push_back(tagger.labels().name(tag));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"O", "B-ANIMAL", "B-ACT", "I-ACT"}));

  run = options("masked-language-model", "plain.txt", "words");
  run.run.validate_every = 50;
  train(run, 150);
  const decoding::TextLabeler words_model = decoding::load_labeler(run.model_folder, EncoderHead::kWords, "fill-mask");
  const std::string masked[] = {"[MASK] cat runs at noon ."};
  const decoding::FilledMasks filled = words_model.fill(masked, 3)[0];
  ASSERT_EQ(filled.size(), 1U);
  ASSERT_EQ(filled[0].size(), 3U);
  EXPECT_EQ(filled[0][0].piece, "the");
  EXPECT_GE(filled[0][0].probability, filled[0][1].probability);
}

TEST_F(EncoderTasks, ATextAloneHasTheBitsThatItHasInAnyBatch) {
  for (const auto& [task, text, accuracy] : kTasks) {
    const TrainOptions run = options(task, text, fmt::format("alone-{}-{}", task, text));
    train(run, 4);
    for (const auto precision : {kernels::Precision::kFloat32, kernels::Precision::kInt8}) {
      const std::string name = task;
      if (name == "classify") {
        const auto labeler = decoding::load_labeler(run.model_folder, EncoderHead::kClasses, "classify", precision);
        std::vector<data::TextOrPair> texts;
        for (int i = 0; i < 12; ++i) {
          texts.push_back({fmt::format("the {} runs", kAnimals[i % 4]), std::nullopt});
          if (i % 3 == 0) {
            texts.back().second = "at night it sleeps, the " + std::string(kAnimals[i % 3]);
          }
        }
        const auto together = labeler.classify(texts, {.batch_tokens = 40, .workers = 3});
        for (size_t i = 0; i < texts.size(); ++i) {
          EXPECT_TRUE(std::ranges::equal(labeler.classify(std::span(texts).subspan(i, 1)).of(0), together.of(i)));
        }
      } else if (name == "tag") {
        const auto labeler = decoding::load_labeler(run.model_folder, EncoderHead::kTags, "tag", precision);
        std::vector<std::vector<std::string>> sentences(9, {"the", "cat"});
        for (size_t i = 0; i < sentences.size(); ++i) {
          sentences[i].insert(sentences[i].end(), i * 5, "night");  // longer than the model takes
        }
        const auto together = labeler.tag(sentences, {.batch_tokens = 64, .workers = 2});
        for (size_t i = 0; i < sentences.size(); ++i) {
          const auto alone = labeler.tag(std::span(sentences).subspan(i, 1))[0];
          EXPECT_EQ(alone.tags.size(), sentences[i].size());
          EXPECT_EQ(alone.tags, together[i].tags);
          EXPECT_EQ(alone.probabilities, together[i].probabilities);
        }
      } else if (name == "embed") {
        const auto encoder = decoding::load_encoder(run.model_folder, precision);
        const std::vector<std::string> texts = {"the cat", "the dog sleeps in the barn", "", "hen"};
        const auto together = encoder.embed(texts, {.batch_tokens = 12, .workers = 2});
        for (size_t i = 0; i < texts.size(); ++i) {
          EXPECT_TRUE(std::ranges::equal(encoder.embed(std::span(texts).subspan(i, 1)).of(0), together.of(i)));
        }
      } else {
        const auto labeler = decoding::load_labeler(run.model_folder, EncoderHead::kWords, "fill-mask", precision);
        const std::vector<std::string> texts = {"the [MASK] runs", "[MASK] [MASK] at night .", "the hen [MASK]"};
        const auto together = labeler.fill(texts, 4);
        for (size_t i = 0; i < texts.size(); ++i) {
          const auto alone = labeler.fill(std::span(texts).subspan(i, 1), 4)[0];
          ASSERT_EQ(alone.size(), together[i].size());
          EXPECT_EQ(alone[0][0].id, together[i][0][0].id);
          EXPECT_EQ(alone[0][0].probability, together[i][0][0].probability);
        }
      }
    }
  }
}

TEST_F(EncoderTasks, Int8KeepsTheClasses) {
  TrainOptions run = options("classify", "classes.tsv", "classes");
  run.run.validate_every = 50;
  train(run, 100);
  const data::TextOrPair texts[] = {{"the cat runs at night .", {}}, {"the hen eats at noon .", {}}};
  const auto exact =
      decoding::load_labeler(run.model_folder, EncoderHead::kClasses, "classify", kernels::Precision::kFloat32)
          .classify(texts);
  const auto rounded =
      decoding::load_labeler(run.model_folder, EncoderHead::kClasses, "classify", kernels::Precision::kInt8)
          .classify(texts);
  for (size_t i = 0; i < exact.probabilities.size(); ++i) {
    EXPECT_NEAR(exact.probabilities[i], rounded.probabilities[i], 0.05);
  }
}

// With int8 the answers for the text that a task learned are right as often as in float32, to half a point.
TEST_F(EncoderTasks, Int8CostsNoAccuracy) {
  std::string noisy;
  for (int line = 0; line < 400; ++line) {  // a tenth of the labels follows from nothing, so not all can be right
    const bool is_night = line % 5 < 2;
    noisy += fmt::format("{}\tthe {} {} at {} in the {}\n", is_night != (line % 10 == 3) ? "night" : "day",
                         kAnimals[line % 4], kDoes[line % 3], is_night ? "night" : "noon", kPlaces[line % 5]);
  }
  write("noisy.tsv", noisy);
  TrainOptions run = options("classify", "noisy.tsv", "noisy");
  run.run.validate_every = 60;
  train(run, 60);
  std::vector<data::TextOrPair> texts;
  const std::vector<data::LabelledText> examples = data::read_labelled_texts({path("noisy.tsv")});
  for (const data::LabelledText& example : examples) {
    texts.push_back(example.text);
  }
  std::vector<double> accuracies;
  for (const auto precision : {kernels::Precision::kFloat32, kernels::Precision::kInt8}) {
    const auto labeler = decoding::load_labeler(run.model_folder, EncoderHead::kClasses, "classify", precision);
    const decoding::TextClasses found = labeler.classify(texts);
    double right = 0.0;
    for (size_t i = 0; i < texts.size(); ++i) {
      right += labeler.labels().name(found.best(i)) == examples[i].label ? 1.0 : 0.0;
    }
    accuracies.push_back(100.0 * right / static_cast<double>(texts.size()));
  }
  EXPECT_GT(accuracies[0], 80.0);
  EXPECT_NEAR(accuracies[0], accuracies[1], 0.5);
}

// The right text of another pair is far from the left one: the loss is larger than without, and falls; the number of
// workers changes nothing.
TEST_F(EncoderTasks, FarTextsJoinTheLoss) {
  std::vector<std::string> lines;
  std::istringstream pairs(meanings());
  for (std::string line; std::getline(pairs, line);) {
    lines.push_back(line);
  }
  std::string triples;
  for (size_t line = 0; line < lines.size(); ++line) {
    const std::string& other = lines[(line + 7) % lines.size()];
    triples += lines[line] + other.substr(other.find('\t')) + "\n";
  }
  write("triples.tsv", triples);
  const auto losses = [&](const char* text, const char* model, int workers) {
    TrainOptions run = options("embed", text, model);
    run.run.workers = workers;
    run.run.validate_every = 10;
    train(run, 40);
    std::vector<double> found;
    for (const auto& point : report::read_metrics(run.model_folder / report::kMetricsName).validation) {
      found.push_back(point.loss);
    }
    return found;
  };
  const std::vector<double> with = losses("triples.tsv", "far", 1), without = losses("meanings.tsv", "near", 1);
  EXPECT_GT(with.front(), without.front());
  EXPECT_LT(with.back(), with.front());
  const std::vector<double> again = losses("triples.tsv", "far2", 2);
  ASSERT_EQ(again.size(), with.size());
  EXPECT_NEAR(again.back(), with.back(), 1e-3);
}

TEST_F(EncoderTasks, VectorsOfASideAreFoundByTheOtherAndScoredAsInValidation) {
  TrainOptions run = options("embed", "meanings.tsv", "vectors");
  std::string left, right;
  std::istringstream pairs(meanings());
  for (std::string line; std::getline(pairs, line);) {
    left += line.substr(0, line.find('\t')) + "\n";
    right += line.substr(line.find('\t') + 1) + "\n";
  }
  write("left.txt", left);
  write("right.txt", right);
  TrainOptions sides = run;
  sides.text = sides.valid_text = {};
  sides.source = sides.valid_source = {path("left.txt")};
  sides.target = sides.valid_target = {path("right.txt")};
  sides.model_folder = path("sides");
  const std::string said = train(run, 20);
  EXPECT_THAT(said, HasSubstr("60 pairs of"));
  EXPECT_THAT(said, HasSubstr("MRR "));
  train(sides, 20);
  EXPECT_EQ(base::sha256_file(path("sides") / "model.safetensors"),
            base::sha256_file(path("vectors") / "model.safetensors"))
      << "one file or two hold the same pairs";

  const decoding::TextEncoder encoder = decoding::load_encoder(path("vectors"));
  std::vector<std::string> of_sides[2];
  for (size_t side = 0; side < 2; ++side) {
    const std::vector<std::string> texts = data::read_lines(path(side == 0 ? "left.txt" : "right.txt"));
    const decoding::Embeddings vectors = encoder.embed(texts);
    for (size_t text = 0; text < texts.size(); ++text) {
      of_sides[side].push_back(fmt::format("{}", fmt::join(vectors.of(text), "\t")));
    }
  }
  const auto score = [&](evaluation::MetricKind metric) {
    evaluation::EvaluateOptions chosen;
    chosen.metrics = {metric};
    return evaluation::evaluate({{"left", of_sides[0]}}, {{"right", of_sides[1]}}, chosen).scores[0].score;
  };
  const auto validations = report::read_metrics(path("vectors") / report::kMetricsName).validation;
  const auto best = std::ranges::find(validations, true, &report::ValidationRow::is_best);
  ASSERT_NE(best, validations.end());
  double mrr = 0.0;
  for (const auto& row : validations) {
    mrr = std::max(mrr, row.mrr);
  }
  EXPECT_NEAR(score(evaluation::MetricKind::kMrr), mrr, 0.1) << "the published model is the best one";
  EXPECT_GT(score(evaluation::MetricKind::kRecallAt1), 0.0);
}

TEST_F(EncoderTasks, TextsMayBePooledInOtherWays) {
  for (const auto pooling : {TextPooling::kMean, TextPooling::kFirst, TextPooling::kPooler}) {
    for (const char* task : {"classify", "embed"}) {
      const bool has_classes = std::string(task) == "classify";
      const auto text = has_classes ? "classes.tsv" : "meanings.tsv";
      TrainOptions run = options(task, text, fmt::format("{}-{}", task, base::name_of(pooling)));
      run.whole_texts.pooling = pooling;
      run.run.validate_every = 60;
      train(run, 60);
      EXPECT_GT(last_accuracy(run), has_classes ? 95.0 : 5.0)
          << "of 60 texts 1.7 % are found by guessing: " << task << " " << base::name_of(pooling);
      const models::ModelFiles files = models::read_model_folder(run.model_folder);
      EXPECT_EQ(files.tensors.contains("pooler.weight"), pooling == TextPooling::kPooler);
      EXPECT_EQ(files.config.find("class_pooling") == std::string::npos,
                !has_classes || pooling == TextPooling::kPooler)
          << "written where it says something";
      if (pooling == TextPooling::kMean && has_classes) {  // the way stays when the model is trained on
        TrainOptions again = options(task, text, "again");
        again.initial_model = run.model_folder;
        train(again, 1);
        EXPECT_THAT(models::read_model_folder(path("again")).config, HasSubstr("\"class_pooling\": \"mean\""));
      }
    }
  }
}

TEST_F(EncoderTasks, BatchesFitIntoMemory) {
  for (const TaskAndText& task : kTasks) {
    TrainOptions run = options(task.task, task.text, fmt::format("fit-{}-{}", task.task, task.text));
    run.batch.fit = true;
    EXPECT_THAT(train(run, 2), HasSubstr("memory: ")) << task.task;
  }
}

// Groups of pairs are the parts that a batch is cut into, and the update stays the same.
TEST_F(EncoderTasks, ABatchOfGroupsIsCutToFit) {
  TrainOptions whole = options("embed", "meanings.tsv", "whole");
  whole.whole_texts.group_pairs = 4;
  whole.batch.batch_tokens = 20'000;
  whole.batch.fit = true;
  whole.run.memory = uint64_t{1} << 40;
  std::ostringstream terminal;
  MemoryPlan plan;
  {
    const Trainer trainer(whole, terminal);
    plan = trainer.plan().value();
  }
  EXPECT_EQ(plan.batch_tokens, 20'000);
  TrainOptions cut = whole;
  cut.model_folder = path("cut");
  cut.run.memory = plan.peak() - plan.activations / 2;
  {
    const Trainer trainer(cut, terminal);
    EXPECT_GT(trainer.plan()->accumulate, 1);
    EXPECT_GE(trainer.plan()->batch_tokens * trainer.plan()->accumulate, 20'000);
  }
  EXPECT_THAT(train(cut, 3), HasSubstr("memory: "));
}

TEST_F(EncoderTasks, AModelMayHaveMoreRowsThanItsTokenizerHasPieces) {
  train(options("masked-language-model", "plain.txt", "words"), 1);
  models::ModelFiles files = models::read_model_folder(path("words"));
  const auto rows = [](const models::ModelFiles& model) { return model.tensors.at("embedding.weight").dim(0); };
  const int64_t pieces = rows(files), padded = pieces + 5;
  const auto resize = [&](int64_t to) {
    models::ModelFiles other = files;
    for (const auto& [name, shape] :
         {std::pair("embedding.weight", tensor::Shape({to, 32})), std::pair("output.bias", tensor::Shape({to}))}) {
      other.tensors[name] = tensor::Tensor::zeros(shape);
      const int64_t kept = std::min(to, pieces);
      tensor::Tensor begin = other.tensors[name].rows(0, kept);
      begin.copy_from(files.tensors.at(name).rows(0, kept));
    }
    other.config = models::to_json(models::config_from_json(files.config, "config.json").with_vocabulary_sizes(to, 0));
    return other;
  };
  models::publish_model_folder(path("padded"), resize(padded));
  for (const char* task : {"classify", "masked-language-model"}) {
    TrainOptions run =
        options(task, std::string(task) == "classify" ? "classes.tsv" : "plain.txt", fmt::format("of-{}", task));
    run.initial_model = path("padded");
    train(run, 4);
    EXPECT_EQ(rows(models::read_model_folder(run.model_folder)), padded);
    train(run, 6);  // goes on
  }
  models::publish_model_folder(path("short"), resize(pieces - 1));
  TrainOptions run = options("classify", "classes.tsv", "x");
  run.initial_model = path("short");
  test_support::expect_error(ErrorKind::kBadData, {"rows", "pieces", "the files are of different models"},
                             [&] { train(run, 1); });
}

TEST_F(EncoderTasks, AModelForShorterTextsSaysHowLongTextsMayBe) {
  train(options("masked-language-model", "plain.txt", "words"), 1);
  TrainOptions run = options("classify", "classes.tsv", "x");
  run.initial_model = path("words");
  run.batch.max_length = 64;
  run.batch.batch_tokens = 256;
  run.model = preset_options("bert-mini", "classify").model;
  test_support::expect_error(ErrorKind::kUsage,
                             {"--initial-model", "takes 32 tokens", "--max-length is 64", "32 or less"},
                             [&] { train(run, 1); });
}

TEST_F(EncoderTasks, AHeadStartsAnewOnAnEncoderAndStaysOnItsOwn) {
  TrainOptions words = options("masked-language-model", "plain.txt", "words");
  train(words, 8);
  TrainOptions classes = options("classify", "classes.tsv", "classes");
  classes.initial_model = path("words");
  const std::string said = train(classes, 4);
  EXPECT_THAT(said, HasSubstr("starting from the weights"));
  const models::ModelFiles from = models::read_model_folder(path("words")),
                           to = models::read_model_folder(path("classes"));
  EXPECT_EQ(from.vocabularies, to.vocabularies);
  EXPECT_FALSE(to.tensors.contains("transform.weight"));
  EXPECT_EQ(to.tensors.at("output.weight").shape(), tensor::Shape({2, 32}));

  // The same labels go on with the head: before the first update its weights are those that were saved.
  TrainOptions again = options("classify", "classes.tsv", "again");
  again.initial_model = path("classes");
  again.schedule.learning_rate = 1e-9;
  train(again, 1);
  const models::ModelFiles kept = models::read_model_folder(path("again"));
  const tensor::HostView<float> a(kept.tensors.at("output.weight")), b(to.tensors.at("output.weight"));
  for (size_t i = 0; i < a.span().size(); ++i) {
    EXPECT_NEAR(a.span()[i], b.span()[i], 1e-6F);
  }

  // A label less: the labels of the model stay. Another label: the head starts anew.
  write("fewer.tsv", "day\tthe cat\nday\tthe dog\nnight\tthe hen\n");
  TrainOptions other = options("classify", "pairs.tsv", "other");
  other.initial_model = path("classes");
  EXPECT_THAT(train(other, 1), HasSubstr("knows the labels day, night, the training text has other, same: the head "
                                         "begins anew"));
}

TEST_F(EncoderTasks, LabelsThatTheTextLacksStayWithAWarning) {
  write("three.tsv", "a\tthe cat\nb\tthe dog\nc\tthe hen\n");
  write("two.tsv", "c\tthe cat\na\tthe dog\n");
  TrainOptions first = options("classify", "three.tsv", "three");
  train(first, 1);
  TrainOptions second = options("classify", "two.tsv", "two");
  second.initial_model = path("three");
  EXPECT_THAT(train(second, 1), HasSubstr("no training text has the labels b"));
  EXPECT_EQ(models::read_model_folder(path("two")).labels, models::read_model_folder(path("three")).labels);
}

TEST_F(EncoderTasks, TextsLongerThanTheModelAreCutWithAWarning) {
  std::string text = "a\tshort\nb\t";
  for (int i = 0; i < 60; ++i) {
    text += "night ";
  }
  write("long.tsv", text + "\n");
  EXPECT_THAT(train(options("classify", "long.tsv", "long"), 1),
              HasSubstr("1 of 2 training texts are longer than 32 tokens and lose their end"));
  std::string tags;
  for (int i = 0; i < 60; ++i) {
    tags += "night\t" + std::string(i % 2 == 0 ? "A" : "B") + "\n";
  }
  write("long-tags.tsv", tags);
  EXPECT_THAT(train(options("tag", "long-tags.tsv", "long-tags"), 1), HasSubstr("were cut into parts"));
}

TEST_F(EncoderTasks, WhatCannotBeLearnedIsRefusedBeforeTheFirstUpdate) {
  const auto refused = [&](const TrainOptions& run, ErrorKind kind, const std::vector<std::string>& parts) {
    test_support::expect_error(kind, parts, [&] { train(run, 1); });
    EXPECT_FALSE(std::filesystem::exists(run.model_folder / "checkpoints"));
  };
  write("one.tsv", "a\tthe cat\na\tthe dog\n");
  refused(options("classify", "one.tsv", "x"), ErrorKind::kBadData, {"all of the training text has the label \"a\""});
  write("new.tsv", "day\tthe cat\nevening\tthe dog\n");
  TrainOptions run = options("classify", "classes.tsv", "x");
  run.valid_text = {path("new.tsv")};
  refused(run, ErrorKind::kBadData, {"new.tsv:2", "label \"evening\" does not occur", "day, night"});
  run = options("tag", "tags.tsv", "x");
  write("new-tags.tsv", "the\tO\ncat\tB-PLANT\n");
  run.valid_text = {path("new-tags.tsv")};
  refused(run, ErrorKind::kBadData, {"new-tags.tsv:1", "label \"B-PLANT\" does not occur"});
  run = preset_options("tiny", "classify");
  run.text = {path("classes.tsv")};
  run.model_folder = path("x");
  refused(run, ErrorKind::kUsage, {"task classify needs an encoder", "tiny", "bert-mini"});
  run = options("classify", "classes.tsv", "x");
  run.text = {};
  refused(run, ErrorKind::kUsage, {"--text", "classify"});
  run = options("embed", "meanings.tsv", "x");
  run.batch.fit = true;
  run.run.memory = 1 << 20;
  refused(run, ErrorKind::kUsage, {"--memory 1.00 MiB"});
  run = options("embed", "meanings.tsv", "x");
  run.source = run.target = {path("plain.txt")};
  refused(run, ErrorKind::kUsage, {"--text and --source both name pairs"});
  write("one-pair.tsv", "the cat\tthe dog\n");
  refused(options("embed", "one-pair.tsv", "x"), ErrorKind::kBadData, {"number of pairs is 1"});
  write("no-pair.tsv", "the cat\n");
  refused(options("embed", "no-pair.tsv", "x"), ErrorKind::kBadData, {"no-pair.tsv:1: has 1 fields"});
  write("some-far.tsv", "the cat\tthe dog\ta house\nthe dog\ta dog\n");
  refused(options("embed", "some-far.tsv", "x"), ErrorKind::kBadData,
          {"some-far.tsv:2: has 2 fields, the first line has 3"});
  write("no-far.tsv", "the cat\tthe dog\t \n");
  refused(options("embed", "no-far.tsv", "x"), ErrorKind::kBadData, {"no-far.tsv:1: the far text is empty"});
  write("four.tsv", "the cat\tthe dog\ta house\ta mouse\n");
  refused(options("embed", "four.tsv", "x"), ErrorKind::kBadData,
          {"four.tsv:1: has 4 fields", "INPUT TAB TARGET TAB FAR"});
  run = options("masked-language-model", "plain.txt", "x");
  run.vocabulary.type = data::VocabularyOptions::Type::kBpe;
  refused(run, ErrorKind::kUsage, {"word-piece", "bpe", "--tokenizer"});
}

TEST_F(EncoderTasks, AFolderWithAnotherHeadIsNamed) {
  train(options("classify", "classes.tsv", "classes"), 1);
  test_support::expect_error(ErrorKind::kUsage, {"head classes", "tag needs tags", "--task tag"}, [&] {
    static_cast<void>(decoding::load_labeler(path("classes"), EncoderHead::kTags, "tag"));
  });
  models::ModelFiles files = models::read_model_folder(path("classes"));
  files.labels = R"({"labels": ["a", "b", "c"]})";
  models::publish_model_folder(path("wrong"), files);
  test_support::expect_error(ErrorKind::kBadData, {"labels.json: has 3 labels, the head of the model has 2"}, [&] {
    static_cast<void>(decoding::load_labeler(path("wrong"), EncoderHead::kClasses, "classify"));
  });
}

}  // namespace
}  // namespace dragoman::training
