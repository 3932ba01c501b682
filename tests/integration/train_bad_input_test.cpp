#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>

#include "models/model_folder.h"
#include "support/training_runs.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using test_support::BackgroundProgram;
using test_support::Outcome;

constexpr int kFailed = 1, kUsage = 2, kBadData = 65, kCannotWrite = 74, kFirstSignal = 128;

/// A command that must be refused: what is changed in a good one, the status, and words of the message.
struct Refusal {
  std::map<std::string, std::string> changes;
  int status;
  std::vector<std::string> words;
};

class TrainBadInput : public test_support::TrainingRuns {
 protected:
  /// The error in what was said, which is one line; of wrong usage, two lines about --help follow it.
  static std::string error_line(const std::string& text) {
    std::istringstream lines(text);
    std::string error;
    for (std::string line; std::getline(lines, line);) {
      error = line.starts_with("dragoman: ") || line.starts_with("dragoman train: ") ? line : error;
    }
    return error;
  }

  void expect_refusal(const Refusal& refusal) {
    fs::remove_all(path("model"));
    BackgroundProgram run(program_.folder(), command("model", 3, refusal.changes));
    EXPECT_EQ(run.wait(), refusal.status) << run.errors();
    const std::string said = run.errors();
    for (const std::string& word : refusal.words) {
      EXPECT_NE(error_line(said).find(word), std::string::npos)
          << "expected '" << word << "' in the error of: " << said;
    }
    EXPECT_FALSE(error_line(said).empty()) << "expected an error in one line, seen: " << said;
    EXPECT_EQ(said.find("step "), std::string::npos) << "expected no update, seen: " << said;
    EXPECT_FALSE(fs::exists(path("model/checkpoints"))) << said;
    EXPECT_FALSE(fs::exists(path("model/model.safetensors"))) << said;
  }
};

TEST_F(TrainBadInput, TextsThatCannotBeUsed) {
  const std::string source = program_.read("train.source");
  program_.write("short", source.substr(0, source.rfind('\n', source.size() - 2) + 1));
  program_.write("empty", "");
  program_.write("blank", "\n \n\t\n");
  fs::create_directory(path("folder"));
  const std::vector<Refusal> refusals = {
      {{{"source", "short"}}, kBadData, {"short has 299 lines", "train.target has 300"}},
      {{{"valid-source", "short"}, {"valid-target", "blank"}}, kBadData, {"short has 299 lines", "blank has 3"}},
      {{{"source", "empty"}}, kBadData, {"empty: is empty"}},
      {{{"source", "missing"}}, kBadData, {"missing: cannot open for reading: No such file"}},
      {{{"target", "folder"}}, kBadData, {"folder: is a directory"}},
      {{{"source", "blank"}, {"target", "blank"}}, kBadData, {"nothing can be learned from blank"}},
      {{{"max-length", "2"}}, kBadData, {"300 pairs of lines read, 0 kept, 300 dropped", "too long", "train.source:1"}},
      {{{"valid-source", "blank"}, {"valid-target", "blank"}}, kBadData, {"0 kept", "blank:1"}},
      {{{"valid-source", "train.source"}}, kUsage, {"--valid-source and --valid-target go together"}},
  };
  for (const Refusal& refusal : refusals) {
    expect_refusal(refusal);
  }
  expect_refusal({{{"valid-source", "short"}, {"valid-target", "empty"}}, kBadData, {"empty: is empty"}});
  EXPECT_FALSE(fs::exists(path("model"))) << "validation text is looked at only after the training text was encoded";
  ::chmod(path("short").c_str(), 0);
  if (::access(path("short").c_str(), R_OK) != 0) {  // root may read all
    expect_refusal({{{"source", "short"}}, kBadData, {"short: cannot open for reading: Permission denied"}});
  }
}

TEST_F(TrainBadInput, OptionsThatCannotBe) {
  const std::vector<Refusal> refusals = {
      {{{"d-model", "33"}}, kUsage, {"--d-model is 33", "multiple of --n-heads (2)"}},
      {{{"d-model", "0"}}, kUsage, {"--d-model is 0", "1 to 65536"}},
      {{{"encoder-layers", "100000"}}, kUsage, {"--encoder-layers is 100000"}},
      {{{"dropout", "nan"}}, kUsage, {"--dropout is nan"}},
      {{{"learning-rate", "-1"}}, kUsage, {"--learning-rate is -1"}},
      {{{"label-smoothing", "1.5"}}, kUsage, {"--label-smoothing is 1.5", "0 to 0.9"}},
      {{{"rdrop", "-1"}}, kUsage, {"rdrop is -1", "0 to 100"}},
      {{{"source-word-dropout", "1"}}, kUsage, {"--source-word-dropout is 1", "0 to 0.95"}},
      {{{"batch-tokens", "3"}}, kUsage, {"--batch-tokens is 3"}},
      {{{"patience", "-1"}}, kUsage, {"patience is -1"}},
      {{{"max-minutes", "-1"}}, kUsage, {"--max-minutes is -1"}},
      {{{"max-length", "5000"}}, kUsage, {"--max-length is 5000", "2 to 1024"}},
      {{{"vocab-size", "5"}}, kUsage, {"vocabulary: size 5 is too small for the characters"}},
      {{{"joint-vocab", "false"}}, kUsage, {"tying \"all\" needs a joint vocabulary", "--tying target"}},
      {{{"model", "/proc/model"}}, kCannotWrite, {"/proc/model: cannot create the model folder"}},
      {{{"model", "train.source"}}, kCannotWrite, {"train.source: cannot create the model folder: Not a directory"}},
  };
  for (const Refusal& refusal : refusals) {
    expect_refusal(refusal);
  }
  program_.write("wrong.yaml", "max-steps: 3\nbatch-token: 300\n");
  expect_refusal({{{"config", "wrong.yaml"}},
                  kUsage,
                  {"wrong.yaml: line 2: unknown key \"batch-token\"; did you mean \"batch-tokens\"?"}});
}

// What a run began with decides; "auto" is not asked again on a machine that would answer otherwise.
TEST_F(TrainBadInput, ARunKeepsItsPrecision) {
  const std::map<std::string, std::string> old_processor = {{"DRAGOMAN_ISA", "avx2"}};
  const std::string warning = "does not multiply bfloat16: it works, but float32 would be faster";
  BackgroundProgram first(program_.folder(), command("model", 2, {{"precision", "bfloat16"}}), old_processor);
  EXPECT_EQ(first.wait(), 0) << first.errors();
  EXPECT_NE(first.errors().find(warning), std::string::npos) << first.errors();
  BackgroundProgram second(program_.folder(), command("model", 3), old_processor);
  EXPECT_EQ(second.wait(), 0) << second.errors();
  EXPECT_NE(second.errors().find("bfloat16 on avx2"), std::string::npos) << second.errors();
  BackgroundProgram changed(program_.folder(), command("model", 4, {{"precision", "float32"}}));
  EXPECT_EQ(changed.wait(), kUsage) << changed.errors();
  const std::string refused = error_line(changed.errors());
  EXPECT_NE(refused.find("\"precision\": \"bfloat16\" is now \"precision\": \"float32\""), std::string::npos)
      << refused;
  BackgroundProgram other(program_.folder(), command("other", 1), old_processor);
  EXPECT_EQ(other.wait(), 0) << other.errors();
  EXPECT_NE(other.errors().find("float32 on avx2"), std::string::npos) << other.errors();
}

// Told before the first update, with what is needed and what there is.
TEST_F(TrainBadInput, MemoryThatIsTooLittle) {
  expect_refusal({{{"memory", "8GB"}}, kUsage, {"--memory is \"8GB\", must be a size such as 512MiB or 8GiB"}});
  expect_refusal({{{"batch-tokens", "many"}}, kUsage, {"--batch-tokens is \"many\", must be a whole number or auto"}});
  const std::vector<Refusal> refusals = {
      {{{"memory", "100KiB"}},
       kUsage,
       {"--memory 100 KiB is less than the run takes whatever its batches, ", "weights "}},
      {{{"memory", "1MiB"}, {"batch-tokens", "auto"}},
       kUsage,
       {"--memory 1.00 MiB is less than the run takes whatever its batches, ", "text and program "}},
      {{{"memory", "2GiB"}, {"batch-tokens", "9000000"}},
       kUsage,
       {"--batch-tokens 9000000 needs ", "more than --memory 2.00 GiB holds", "tokens fit", "--batch-tokens auto"}},
  };
  for (const Refusal& refusal : refusals) {
    fs::remove_all(path("model"));
    BackgroundProgram run(program_.folder(), command("model", 3, refusal.changes));
    EXPECT_EQ(run.wait(), refusal.status) << run.errors();
    const std::string said = error_line(run.errors());
    for (const std::string& word : refusal.words) {
      EXPECT_NE(said.find(word), std::string::npos) << "expected '" << word << "' in: " << said;
    }
    EXPECT_FALSE(fs::exists(path("model/metrics.jsonl"))) << "an update was made: " << said;
  }
}

TEST_F(TrainBadInput, OnePairIsEnough) {
  program_.write("one.source", "1 2 3\n");
  program_.write("one.target", "3 2 1");  // and no end of line
  BackgroundProgram run(program_.folder(), command("model", 2, {{"source", "one.source"}, {"target", "one.target"}}));
  EXPECT_EQ(run.wait(), 0) << run.errors();
  EXPECT_NE(run.errors().find("1 pairs of lines read, 1 kept, 0 dropped"), std::string::npos) << run.errors();
}

TEST_F(TrainBadInput, OneFolderOneRun) {
  BackgroundProgram first(program_.folder(), command("model", 1'000'000));
  ASSERT_TRUE(test_support::wait_until([&] { return newest_step("model") > 0 || first.has_ended(); }))
      << first.errors();
  BackgroundProgram second(program_.folder(), command("model", 1'000'000));
  EXPECT_EQ(second.wait(), kFailed) << second.errors();
  EXPECT_NE(second.errors().find("model: in use by process"), std::string::npos) << second.errors();
  first.send(SIGTERM);
  EXPECT_EQ(first.wait(), kFirstSignal + SIGTERM) << first.errors();
}

// Weight decay of 100 a step: each update makes the weights a hundred times larger, until no gradient is finite.
TEST_F(TrainBadInput, TwentyNonFiniteGradientsEndTheRunAndNothingNonFiniteIsSaved) {
  BackgroundProgram run(program_.folder(),
                        command("model", 1000, {{"weight-decay", "1"}, {"learning-rate", "100"}, {"keep-last", "99"}}));
  EXPECT_EQ(run.wait(), kFailed) << run.errors();
  EXPECT_NE(error_line(run.errors()).find("20 updates in a row had gradients that are not finite"), std::string::npos);
  const report::MetricsHistory history = report::read_metrics(path("model/metrics.jsonl"));
  const auto skipped = std::ranges::count(history.events, "skipped_update", &report::EventRow::name);
  EXPECT_EQ(skipped, 20);
  for (const report::TrainRow& row : history.train) {
    const bool was_skipped = row.step > static_cast<int64_t>(history.train.size()) - skipped + 1;
    EXPECT_EQ(std::isnan(row.loss), was_skipped) << "step " << row.step << " shows the loss " << row.loss;
  }
  EXPECT_GT(newest_step("model"), 0);
  for (const int64_t step : training::list_checkpoints(path("model"))) {
    EXPECT_NO_THROW(models::read_model_folder(training::checkpoint_folder(path("model"), step))) << step;
  }
  EXPECT_NO_THROW(models::read_model_folder(path("model")));
}

class BadModel : public TrainBadInput {
 protected:
  void SetUp() override {
    train(command("model", 1));
    good_ = models::read_model_folder(path("model"));
  }

  /// Writes a folder with right checksums all the same, and expects every reader to refuse it.
  void expect_refused(const models::ModelFiles& files, const std::vector<std::string>& words) {
    fs::remove_all(path("bad"));
    base::FolderWriter writer(path("bad"));
    writer.add(models::kConfigName, files.config);
    writer.add(models::kWeightsName, tensor::make_safetensors(files.tensors, {}, tensor::FiniteCheck::kNo).bytes());
    for (const auto& [name, bytes] : files.vocabularies) {
      writer.add(name, bytes);
    }
    writer.commit();
    for (const std::string command : {"translate --model bad --input valid.source --output out.txt",
                                      "score --model bad --source valid.source --target valid.target",
                                      "average --output averaged --input bad bad"}) {
      const Outcome outcome = program_.run(command);
      EXPECT_EQ(outcome.status, kBadData) << command << ": " << outcome.err;
      EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << command << ": " << outcome.err;
      for (const std::string& word : words) {
        EXPECT_NE(outcome.err.find(word), std::string::npos) << "expected '" << word << "' in: " << outcome.err;
      }
    }
    EXPECT_FALSE(fs::exists(path("out.txt")));
    EXPECT_FALSE(fs::exists(path("averaged/model.safetensors")));
  }

  /// The good model with one piece of its config.json replaced.
  models::ModelFiles with_config(const std::string& from, const std::string& to) const {
    models::ModelFiles files = good_;
    const size_t at = files.config.find(from);
    EXPECT_NE(at, std::string::npos) << from << " is not in " << files.config;
    files.config.replace(at, from.size(), to);
    return files;
  }

  models::ModelFiles good_;
};

TEST_F(BadModel, WeightsThatAreNotFinite) {
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const std::string& name : {good_.tensors.begin()->first, good_.tensors.rbegin()->first}) {
      models::ModelFiles files = good_;
      files.tensors[name] = files.tensors[name].clone();
      files.tensors[name].span<float>().back() = value;
      expect_refused(files, {"bad/model.safetensors", name, std::isnan(value) ? "nan" : "inf"});
    }
  }
}

TEST_F(BadModel, ConfigurationThatIsWrong) {
  expect_refused(with_config("\"d_model\"", "\"d_modle\""),
                 {"bad/config.json: unknown key \"d_modle\"; did you mean \"d_model\"?"});
  expect_refused(with_config("\"d_model\": 32", "\"d_model\": 64"), {"bad/model.safetensors", "[", "64"});
  expect_refused(with_config("\"d_model\": 32", "\"d_model\": -1"), {"bad/config.json", "d_model is -1"});
  expect_refused(with_config("\"d_model\": 32", "\"d_model\": \"wide\""),
                 {"bad/config.json", "d_model must be an integer"});
  expect_refused(with_config("\"encoder_layers\": 1", "\"encoder_layers\": 2"),
                 {"bad/model.safetensors", "encoder.layers.1", "missing"});
  expect_refused(with_config("\"norm_order\": \"post\"", "\"norm_order\": \"past\""),
                 {"bad/config.json", "norm_order is \"past\"", "post, pre"});
  expect_refused(with_config("{", ""), {"bad/config.json"});
}

TEST_F(BadModel, AVocabularyOfAnotherSize) {
  train(command("other", 1, {{"vocab-size", "17"}}));
  models::ModelFiles files = good_;
  files.vocabularies = models::read_model_folder(path("other")).vocabularies;
  ASSERT_NE(files.vocabularies, good_.vocabularies);
  fs::remove_all(path("bad"));
  models::publish_model_folder(path("bad"), files);
  const Outcome outcome = program_.run("translate --model bad --input valid.source");
  EXPECT_EQ(outcome.status, kBadData) << outcome.err;
  EXPECT_NE(outcome.err.find("bad/vocabulary.spm: has 17 pieces, the model was made for 20"), std::string::npos)
      << outcome.err;
}

TEST_F(BadModel, VocabulariesOfOneSideOnly) {
  models::ModelFiles files = good_;
  files.vocabularies = {{models::kTargetVocabularyName, good_.vocabularies.at(models::kJointVocabularyName)}};
  fs::remove_all(path("bad"));
  models::publish_model_folder(path("bad"), files);
  const Outcome outcome = program_.run("translate --model bad --input valid.source");
  EXPECT_EQ(outcome.status, kBadData) << outcome.err;
  EXPECT_NE(outcome.err.find("bad: has neither vocabulary.spm nor source.spm"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace dragoman
