#include "study/run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "data/text/text_file.h"
#include "study/asked_words.h"
#include "study/forecast.h"
#include "study/given.h"
#include "study/search_check.h"
#include "study/study_check.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace dragoman::study {
namespace {

namespace fs = std::filesystem;
using test_support::expect_error;
using Words = std::vector<std::string>;

std::string value_of(const Words& words, const std::string& option) {
  const auto found =
      std::ranges::find_if(words, [&](const std::string& word) { return word.starts_with(option + "="); });
  return found == words.end() ? "" : found->substr(option.size() + 1);
}

// Stands in for the program: training makes the folder and, before it fails, a checkpoint, translating writes two
// hypotheses or one line for each line.
struct StandIn {
  std::vector<Words> calls;
  size_t fail_at = 1000;  // number of a call
  bool saves = true;      // trainings get as far as a checkpoint

  int operator()(const Words& words, const fs::path& output) {
    calls.push_back(words);
    if (words.front() == "train") {
      fs::create_directories(fs::path(value_of(words, "--model")) / (saves ? "checkpoints/step-3" : ""));
    }
    if (calls.size() > fail_at) {
      return 143;
    }
    if (words.front() == "train") {
      return 0;
    } else if (words.front() == "translate") {
      Lines lines;
      const Lines sources = data::read_lines(value_of(words, "--input"));
      for (size_t i = 0; i < sources.size(); ++i) {
        if (value_of(words, "--nbest").empty()) {
          lines.push_back("it " + sources[i]);
          continue;
        }
        lines.push_back(std::to_string(i) + " ||| lummmmm ||| f ||| -1");
        if (i % 2 == 1) {
          lines.push_back(std::to_string(i) + " ||| sound " + sources[i] + " ||| f ||| -2");
        }
      }
      write_lines(value_of(words, "--output"), lines);
    } else if (words.front() == "score") {
      Lines lines;
      for (size_t i = 0; i < data::read_lines(value_of(words, "--source")).size(); ++i) {
        lines.push_back(std::to_string(3 * i) + "\t" + std::to_string(i) + "\t3");
      }
      write_lines(value_of(words, "--output"), lines);
    } else if (!output.empty()) {
      write_lines(output, {"tuned"});
    }
    return 0;
  }

  size_t count(const std::string& command) const {
    return static_cast<size_t>(std::ranges::count(calls, command, [](const Words& words) { return words.front(); }));
  }
};

class StudyRun : public ::testing::Test {
 protected:
  StudyRun() {
    write_lines(folder_.path() / "train.en", {"Aa", "Bb", "Cc", "Dd"});
    write_lines(folder_.path() / "train.de", {"Aä", "Bö", "Cü", "Dß"});
    study_.name = "trial";
    study_.texts = {{"source", folder_.path() / "train.en"},
                    {"target", folder_.path() / "train.de"},
                    {"valid-source", folder_.path() / "train.en"},
                    {"valid-target", folder_.path() / "train.de"}};
    study_.baseline = "base";
    study_.options.set("total-minutes", {"10"});
    study_.options.set("d-model", {"64"});
    study_.decided_by_start = {"d-model", "initial-model"};
    Row other{"other", "", {}, {}, {}};
    other.options.set("dropout", {"0.3"});
    study_.rows = {{"base", "", {}, {}, {}}, other};
    study_.stages = {stage("both", StageKind::kTrain), stage("forward", StageKind::kDistill),
                     stage("model", StageKind::kTrain)};
    study_.stages[0].source = {"source", "target"};
    study_.stages[0].target = {"target", "source"};
    study_.stages[0].share = 0.25;
    study_.stages[1].source = {"source"};
    study_.stages[1].nearest_to = {"target"};
    study_.stages[1].model = "both";
    study_.stages[2].source = {"source", "source"};
    study_.stages[2].target = {"target", "forward"};
    study_.stages[2].start_from = "both";
    study_.stages[2].options.set("learning-rate", {"0.001"});
  }

  static Stage stage(const std::string& name, StageKind kind) {
    Stage stage;
    stage.name = name;
    stage.kind = kind;
    return stage;
  }

  int run(StandIn& program, size_t row = 0) {
    const StudyFolder folder(study_, folder_.path() / "study");
    return run_cell(study_, folder, {&study_.rows[row], 1}, std::ref(program), [](const std::string&) {});
  }

  fs::path in_cell(const std::string& name) const { return folder_.path() / "study" / "base" / "seed-1" / name; }

  test_support::TemporaryFolder folder_;
  Study study_;
};

TEST_F(StudyRun, StagesHaveTheirFilesOptionsAndShare) {
  check_study(study_);
  StandIn program;
  ASSERT_EQ(run(program), 0);
  const std::string en = (folder_.path() / "train.en").string(), de = (folder_.path() / "train.de").string();
  EXPECT_EQ(program.calls[0],
            (Words{"train", "--total-minutes=2.5", "--d-model=64", "--seed=1", "--model=" + in_cell("both").string(),
                   "--source", en, de, "--target", de, en, "--valid-source=" + en, "--valid-target=" + de}));
  EXPECT_EQ(program.calls[1],
            (Words{"translate", "--model=" + in_cell("both").string(), "--input=" + en,
                   "--output=" + in_cell("forward.txt.hypotheses").string(), "--beam-size=16", "--nbest=16"}));
  EXPECT_EQ(program.calls[2], (Words{"train", "--total-minutes=10", "--learning-rate=0.001", "--seed=1",
                                     "--model=" + in_cell("model").string(),
                                     "--initial-model=" + in_cell("both").string(), "--source", en, en, "--target", de,
                                     in_cell("forward.txt").string(), "--valid-source=" + en, "--valid-target=" + de}));
  EXPECT_EQ(program.calls[3].front(), "translate");
  EXPECT_EQ(data::read_lines(in_cell("forward.txt")), (Lines{"Aä", "sound Bb", "Cü", "sound Dd"}));
  EXPECT_FALSE(fs::exists(in_cell("forward.txt.hypotheses")));
}

TEST_F(StudyRun, WhatIsDoneIsNotDoneAgain) {
  for (size_t stop = 0; stop < 4; ++stop) {
    StandIn stopped;
    stopped.fail_at = 1;
    EXPECT_EQ(run(stopped), stop < 3 ? 143 : 0) << stop;  // one step a time
  }
  StandIn idle;
  EXPECT_EQ(run(idle), 0);
  EXPECT_TRUE(idle.calls.empty());
}

TEST_F(StudyRun, ARowChangesEveryTraining) {
  StandIn program;
  ASSERT_EQ(run(program, 1), 0);
  for (const Words& words : program.calls) {
    EXPECT_EQ(value_of(words, "--dropout"), words.front() == "train" ? "0.3" : "");
  }
}

TEST_F(StudyRun, DoneStepsWithOtherOptionsAreRefused) {
  StandIn program;
  ASSERT_EQ(run(program), 0);
  study_.stages[0].options.set("dropout", {"0.5"});
  const StudyFolder folder(study_, folder_.path() / "study");
  EXPECT_FALSE(is_done(study_, folder, {&study_.rows[0], 1}));
  EXPECT_THROW(run_cell(study_, folder, {&study_.rows[0], 1}, std::ref(program), [](const std::string&) {}),
               base::Error);
}

TEST_F(StudyRun, ATrainingUnderWayGoesOnWithTheSameOptionsOnly) {
  StandIn stopped;
  stopped.fail_at = 0;
  ASSERT_EQ(run(stopped), 143);
  study_.stages[0].options.set("max-steps", {"900"});
  StandIn other;
  expect_error(base::ErrorKind::kUsage, {"both was begun with other options: max-steps was not given, is 900; give"},
               [&] { run(other); });
  study_.stages[0].options.remove({"max-steps"});
  StandIn same;
  EXPECT_EQ(run(same), 0) << "what was asked for first goes on";
  study_.stages[0].options.set("max-steps", {"700"});
  StandIn early;
  study_.rows[0].name = "early";  // before the first checkpoint nothing would be lost
  early.fail_at = 0;
  early.saves = false;
  ASSERT_EQ(run(early), 143);
  study_.stages[0].options.set("max-steps", {"800"});
  StandIn again;
  EXPECT_EQ(run(again), 0);
}

TEST(StudyAskedWords, ChangesAreNamedWithBothValues) {
  const Words before = {"train",
                        "--dropout=0.1",
                        "--max-steps=6",
                        "--whole",
                        "a",
                        "b",
                        "--seed=1",
                        "source source, target a, text , from "};
  Words now = {"train",
               "--max-steps=9",
               "--whole",
               "a",
               "c",
               "--clip-norm=5",
               "--seed=1",
               "source source, target a+b, text , from first",
               "validated in reverse"};
  EXPECT_EQ(
      asked_changes(before, now),
      "clip-norm was not given, is 5; dropout was 0.1, is not given; max-steps was 6, is 9; start-from was not given, "
      "is first; target was a, is a+b; validated was not given, is in reverse; whole was a b, is a c");
  EXPECT_FALSE(asks_the_same(before, now));
  EXPECT_TRUE(asks_the_same({"search", "", "--a=1", "--b=2", "hash"}, {"search", "", "--b=2", "--a=1", "hash"}));
  EXPECT_FALSE(asks_the_same({"search", "--a=1", "hash", "test"}, {"search", "--a=1", "test", "hash"}));
  EXPECT_EQ(asked_changes({"filter", "m", "s", "t", "", "0.5"}, {"filter", "m", "s", "t", "", "0.8"}),
            "keep was 0.5, is 0.8");
}

// Of a study that an earlier version began it is not known; `train` itself refuses another recipe.
TEST_F(StudyRun, ATrainingOfWhichNothingIsKnownGoesOn) {
  StandIn stopped;
  stopped.fail_at = 0;
  ASSERT_EQ(run(stopped), 143);
  fs::remove(in_cell("done") / "both.begun");
  study_.stages[0].options.set("dropout", {"0.2"});
  StandIn refused;
  refused.fail_at = 0;
  ASSERT_EQ(run(refused), 143);
  study_.stages[0].options.remove({"dropout"});
  StandIn again;
  EXPECT_EQ(run(again), 0) << "the refusal left no trace";
}

TEST_F(StudyRun, OptionsInAnotherOrderAreTheSame) {
  StandIn program;
  ASSERT_EQ(run(program), 0);
  study_.options = {};
  study_.options.set("d-model", {"64"});
  study_.options.set("total-minutes", {"10"});
  StandIn idle;
  EXPECT_EQ(run(idle), 0);
  EXPECT_TRUE(idle.calls.empty());
}

// Its first test has been translated anew, so what the mark says is no longer there.
TEST_F(StudyRun, ASearchThatWasInterruptedIsDoneAgainEvenIfTheOldOneIsAskedFor) {
  study_.tests = {{"test", folder_.path() / "train.en", folder_.path() / "train.de"}};
  StandIn program;
  ASSERT_EQ(run(program), 0);
  study_.searches = {{"default", {}}};
  study_.searches.front().second.set("beam-size", {"2"});
  StandIn stopped;
  stopped.fail_at = 1;
  ASSERT_EQ(run(stopped), 143);
  study_.searches = {{"default", {}}};
  StandIn again;
  EXPECT_EQ(run(again), 0);
  EXPECT_EQ(again.count("translate"), 2U) << "validation and test";
}

TEST_F(StudyRun, ATextThatChangesMeanwhileIsRefused) {
  StandIn stand_in;
  const Program program = [&](const Words& words, const fs::path& output) {
    write_lines(folder_.path() / "train.de", {"Aä", "Bö", "Cü", "Eß"});
    return stand_in(words, output);
  };
  const StudyFolder folder(study_, folder_.path() / "study");
  expect_error(base::ErrorKind::kUsage, {"train.de: the text target has changed while the study ran"}, [&] {
    run_cell(study_, folder, {&study_.rows[0], 1}, program, [](const std::string&) {});
  });
  EXPECT_FALSE(folder.marked({&study_.rows[0], 1}, "both").has_value());
}

TEST_F(StudyRun, AFilterKeepsNoPairWithAnEmptySide) {
  write_lines(folder_.path() / "blank.en", {"Aa", "", "Cc", "Dd"});
  write_lines(folder_.path() / "blank.de", {"Aä", "Bö", "Cü", " "});  // the last has the best score
  study_.texts["noisy-source"] = folder_.path() / "blank.en";
  study_.texts["noisy-target"] = folder_.path() / "blank.de";
  Stage clean = stage("clean", StageKind::kFilter);
  clean.source = {"noisy-source"};
  clean.target = {"noisy-target"};
  clean.model = "both";
  study_.stages.insert(study_.stages.begin() + 2, clean);
  StandIn program;
  ASSERT_EQ(run(program), 0);
  EXPECT_EQ(data::read_lines(in_cell("clean.source.txt")), (Lines{"Aa", "Cc"}));
}

TEST_F(StudyRun, TheValidationTextMayNotComeOrGo) {
  StandIn program;
  ASSERT_EQ(run(program), 0);
  study_.texts.erase("valid-source");
  study_.texts.erase("valid-target");
  expect_error(base::ErrorKind::kUsage, {"is a study with the text valid-source"}, [&] { run(program); });
}

TEST_F(StudyRun, AFileThatAnOptionNamesStaysAsItIs) {
  const fs::path tokenizer = folder_.path() / "vocabulary.spm";
  study_.rows[0].options.set("tokenizer", {tokenizer.string()});
  StandIn program;
  ASSERT_EQ(run(program), 0);  // it is not there yet
  write_lines(tokenizer, {"a"});
  ASSERT_EQ(run(program), 0);
  write_lines(tokenizer, {"b"});
  expect_error(base::ErrorKind::kUsage, {"--tokenizer " + tokenizer.string()}, [&] { run(program); });
}

TEST_F(StudyRun, AnotherGivenModelIsRefused) {
  const fs::path model = folder_.path() / "teacher";
  fs::create_directories(model);
  write_lines(model / "model.safetensors", {"weights"});
  write_lines(model / "manifest.json", {"hashes"});
  study_.models = {{"teacher", model}};
  study_.stages[1].model = "teacher";
  StandIn program;
  ASSERT_EQ(run(program), 0);
  write_lines(model / "decoding.json", {"{}"});
  expect_error(base::ErrorKind::kUsage, {"model teacher"}, [&] { run(program); });
}

TEST_F(StudyRun, AnotherTextUnderTheSameNameIsRefused) {
  StandIn program;
  ASSERT_EQ(run(program), 0);
  write_lines(folder_.path() / "train.en", {"Aa", "Bb", "Cc", "Ee"});
  EXPECT_THROW(run(program), base::Error);
}

TEST_F(StudyRun, LowerCasedCopiesAreTrainedOn) {
  study_.lowercase_text = true;
  StandIn program;
  ASSERT_EQ(run(program), 0);
  EXPECT_EQ(data::read_lines(value_of(program.calls[0], "--valid-target")), (Lines{"aä", "bö", "cü", "dß"}));
}

TEST_F(StudyRun, AFilterKeepsTheBestPairs) {
  Stage by_model = stage("clean", StageKind::kFilter);
  by_model.source = {"source"};
  by_model.target = {"forward"};
  by_model.model = "both";
  by_model.keep = 0.5;
  Stage by_agreement = by_model;
  by_agreement.name = "near";
  by_agreement.model.clear();
  by_agreement.nearest_to = {"target"};
  study_.stages.insert(study_.stages.begin() + 2, {by_model, by_agreement});
  study_.stages.back().source = {"clean.source", "near.source"};
  study_.stages.back().target = {"clean.target", "near.target"};
  check_study(study_);
  StandIn program;
  ASSERT_EQ(run(program), 0);
  EXPECT_EQ(data::read_lines(in_cell("clean.source.txt")), (Lines{"Cc", "Dd"}));
  EXPECT_EQ(data::read_lines(in_cell("near.source.txt")), (Lines{"Aa", "Cc"}));
  EXPECT_EQ(data::read_lines(in_cell("near.target.txt")), (Lines{"Aä", "Cü"}));
}

TEST_F(StudyRun, AFilterOfTextsThatDoNotFitIsRefused) {
  Stage near = stage("near", StageKind::kFilter);
  near.source = {"source", "source"};
  near.target = {"forward"};
  near.nearest_to = {"target"};
  study_.stages.insert(study_.stages.begin() + 2, near);
  StandIn program;
  EXPECT_THROW(run(program), base::Error);
}

TEST_F(StudyRun, KnownLinesMustBeThoseOfTheText) {
  study_.stages[1].nearest_to = {"target", "target"};
  StandIn program;
  EXPECT_THROW(run(program), base::Error);
}

TEST_F(StudyRun, ARowMayChangeATextStage) {
  study_.rows[0].stage_options["forward"].set("beam-size", {"3"});
  StandIn program;
  ASSERT_EQ(run(program), 0);
  EXPECT_EQ(value_of(program.calls[1], "--beam-size"), "3");
  EXPECT_EQ(value_of(program.calls[1], "--nbest"), "3");
}

TEST_F(StudyRun, ASearchMayUseTheModelOfAStage) {
  OptionList reverse;
  reverse.set("reverse-model", {"both"});
  study_.searches = {{"paper", {}}, {"reverse", reverse}};
  study_.tune = true;
  StandIn program;
  ASSERT_EQ(run(program), 0);
  EXPECT_EQ(value_of(program.calls.back(), "--reverse-model"), in_cell("both").string());
  EXPECT_EQ(program.count("tune"), 1U);
}

TEST_F(StudyRun, AMeasurementValidatesOnAFewLines) {
  const fs::path text = folder_.path() / "valid.en", scratch = folder_.path() / "scratch";
  write_lines(text, Lines(3000, "A dog runs ."));
  study_.texts["valid-source"] = study_.texts["valid-target"] = text;
  size_t lines = 0;
  const Program program = [&](const Words& words, const fs::path&) {
    fs::create_directories(scratch);
    write_lines(scratch / "metrics.jsonl", {R"({"kind":"train","step":1,"epoch":0.1,"loss":5,"seconds":3})",
                                            R"({"kind":"train","step":3,"epoch":0.3,"loss":4,"seconds":7})"});
    lines = data::read_lines(value_of(words, "--valid-source")).size();
    EXPECT_EQ(data::read_lines(value_of(words, "--valid-target")).size(), lines);
    return 0;
  };
  EXPECT_EQ(measure_update(study_, study_.rows[0], study_.stages[0], scratch, 5.0, program), 2.0);
  EXPECT_GT(lines, 0U);
  EXPECT_LE(lines, 100U);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 3) << "the texts of the study alone are left";
}

TEST_F(StudyRun, AModelToStartFromIsThatOfTheStage) {
  study_.rows[0].options.set("initial-model", {"given"});
  check_study(study_);
  StandIn program;
  ASSERT_EQ(run(program), 0);
  EXPECT_EQ(value_of(program.calls[0], "--initial-model"), "given");
  EXPECT_EQ(
      std::ranges::count_if(program.calls[2], [](const auto& word) { return word.starts_with("--initial-model"); }), 1);
  study_.rows[0].stage_options["model"].set("d-model", {"32"});
  expect_error(base::ErrorKind::kUsage, {"stage model starts from both, which decides --d-model"},
               [&] { check_study(study_); });
}

TEST_F(StudyRun, OneNameForTwoTextsIsRefused) {
  Stage clean = stage("clean", StageKind::kFilter);
  clean.source = {"source"};
  clean.target = {"forward"};
  clean.model = "both";
  study_.stages.insert(study_.stages.begin() + 2, clean);
  study_.texts["clean.source"] = folder_.path() / "train.en";
  expect_error(base::ErrorKind::kUsage, {"two things are called \"clean.source\""}, [&] { check_study(study_); });
  study_.texts.erase("clean.source");
  study_.texts["news"] = "a/de.txt";
  study_.texts["news.de"] = "a/txt";
  check_study(study_);  // they are read where they are
  study_.lowercase_text = true;
  expect_error(base::ErrorKind::kUsage, {"would both be news.de.txt"}, [&] { check_study(study_); });
}

TEST_F(StudyRun, LinesThatDoNotFitAreSeenBeforeTheWork) {
  check_given(study_);
  write_lines(folder_.path() / "short.de", {"Aä"});
  study_.texts["known"] = folder_.path() / "short.de";
  study_.stages[1].nearest_to = {"known"};
  expect_error(base::ErrorKind::kUsage, {"stage forward: source has 4 lines, known 1"}, [&] { check_given(study_); });
  study_.stages[1].nearest_to = {};
  study_.stages[2].target = {"forward", "known"};
  expect_error(base::ErrorKind::kUsage, {"stage model: source + source has 8 lines, forward + known 5"},
               [&] { check_given(study_); });
}

TEST_F(StudyRun, ATestThatIsNoTextIsSeenBeforeTheWork) {
  std::ofstream(folder_.path() / "latin.de") << "A\xE4\nBb\nCc\nDd\n";
  study_.tests = {{"test", folder_.path() / "train.en", folder_.path() / "latin.de"}};
  expect_error(base::ErrorKind::kBadData, {"latin.de: line 1", "not UTF-8"}, [&] { check_given(study_); });
}

TEST_F(StudyRun, UpdatesThatTheStudyAsksForAreNotPredictedByThePresetsMinutes) {
  const LimitsOf of_preset = [](const Words&, bool) { return TrainingLimits{55.0, 100}; };
  const Row& row = study_.rows[0];
  EXPECT_EQ(forecast(study_, row, of_preset, {}).minutes, 110.0);
  study_.options = {};
  study_.options.set("max-steps", {"100"});
  study_.stages[0].share = 1.0;
  EXPECT_TRUE(std::isnan(forecast(study_, row, of_preset, {}).minutes));
  EXPECT_NEAR(forecast(study_, row, of_preset, {{"both", 0.6}, {"model", 1.2}}).minutes, 3.0, 1e-12);
}

TEST_F(StudyRun, AnOptionThatDoesNotFitNamesThePlaceOfItsRow) {
  const LimitsOf refuses = [](const Words&, bool) -> TrainingLimits {
    base::fail(base::ErrorKind::kUsage, "no heads");
  };
  expect_error(base::ErrorKind::kUsage, {"study trial: row base, stage both: no heads"},
               [&] { forecast(study_, study_.rows[0], refuses, {}); });
  study_.rows[0].place = "trial.yaml: line 12";
  expect_error(base::ErrorKind::kUsage, {"trial.yaml: line 12: row base, stage both: no heads"},
               [&] { forecast(study_, study_.rows[0], refuses, {}); });
}

TEST_F(StudyRun, ALimitIsAskedWithTheNamesOfTheTexts) {
  const LimitsOf limits = [&](const Words& words, bool texts_are_there) {
    EXPECT_FALSE(texts_are_there);
    EXPECT_EQ(value_of(words, "--initial-model"), "both") << "which decides the shape";
    EXPECT_EQ(std::ranges::count(words, "--target"), 1);
    EXPECT_EQ(words[words.size() - 3], "forward") << "which an earlier stage makes";
    return TrainingLimits{1.0, 1};
  };
  EXPECT_EQ(limits_of_stage(study_, study_.rows[0], study_.stages[2], limits).max_steps, 1);
}

// A model that translates back is judged on text to translate back.
TEST_F(StudyRun, AReversedTrainingIsValidatedInReverse) {
  Stage back = stage("back", StageKind::kTrain);
  back.source = {"target", "forward"};
  back.target = {"source", "source"};
  EXPECT_FALSE(study_.is_reversed(study_.stages[0])) << "both directions";
  EXPECT_FALSE(study_.is_reversed(study_.stages[2]));
  study_.stages.insert(study_.stages.end() - 1, back);
  EXPECT_TRUE(study_.is_reversed(back)) << "forward is the translation of the source";
  StandIn program;
  ASSERT_EQ(run(program), 0);
  for (const Words& words : program.calls) {
    const bool is_back = value_of(words, "--model") == in_cell("back").string();
    if (words.front() == "train") {
      EXPECT_EQ(fs::path(value_of(words, "--valid-source")).extension(), is_back ? ".de" : ".en");
      EXPECT_EQ(fs::path(value_of(words, "--valid-target")).extension(), is_back ? ".en" : ".de");
    }
  }
  study_.texts["news"] = folder_.path() / "train.de";
  back.source = {"news"};
  back.target = {"english"};
  EXPECT_FALSE(study_.is_reversed(back)) << "nothing is known of the text english";
  study_.texts["english"] = folder_.path() / "train.en";
  EXPECT_TRUE(study_.is_reversed(back)) << "by the names of the files";
}

TEST_F(StudyRun, AModelTranslatesInTheDirectionInWhichItLearned) {
  check_study(study_);  // "both" learns both directions
  study_.stages[0].source = {"target"};
  study_.stages[0].target = {"source"};
  study_.stages[1].place = "trial.yaml: line 9";
  expect_error(base::ErrorKind::kUsage,
               {"trial.yaml: line 9: stage forward translates from source to target by both, which learns the other"},
               [&] { check_study(study_); });
  study_.stages[0].source = {"source"};
  study_.stages[0].target = {"target"};
  check_study(study_);
  study_.stages[1].kind = StageKind::kBackTranslate;
  study_.stages[1].target = {"target"};
  study_.stages[1].nearest_to = {};
  expect_error(base::ErrorKind::kUsage, {"stage forward translates from target to source by both"},
               [&] { check_study(study_); });
}

TEST_F(StudyRun, TheLastModelTranslatesAsTheTestsDo) {
  Stage last = stage("last", StageKind::kTrain);
  last.source = {"target"};
  last.target = {"source"};
  study_.stages.push_back(last);
  expect_error(base::ErrorKind::kUsage, {"stage last trains from target to source", "the validation text"},
               [&] { check_study(study_); });
  study_.texts.erase("valid-source");
  study_.texts.erase("valid-target");
  check_study(study_);  // nothing is translated
  study_.tests = {{"test", "test.en", "test.de"}};
  expect_error(base::ErrorKind::kUsage, {"stage last trains from target to source", "tested on test from source"},
               [&] { check_study(study_); });
  study_.tests = {{"test", "test.de", "test.en"}};
  check_study(study_);
}

TEST_F(StudyRun, ACoveragePenaltyNeedsAttentionInTheTrainingThatDrawsTheWeights) {
  study_.searches.front().second.set("coverage-penalty", {"0.2"});
  const auto limits = [](bool attends) {
    return [attends](const Words& words, bool) {
      EXPECT_EQ(value_of(words, "--initial-model"), "") << "the weights of both decide";
      return TrainingLimits{1.0, 1, attends};
    };
  };
  check_attention(study_, study_.rows[0], limits(true));
  expect_error(base::ErrorKind::kUsage, {"row base: the search default gives --coverage-penalty"},
               [&] { check_attention(study_, study_.rows[0], limits(false)); });
  study_.rows[0].options.set("initial-model", {"given"});  // of which nothing is known
  check_attention(study_, study_.rows[0], limits(false));
}

TEST_F(StudyRun, ModelsThatAreNotThereAreNamedForTheRowsThatAreRun) {
  study_.rows[1].options.set("initial-model", {"nowhere"});
  const Row* first[] = {&study_.rows[0]};
  const Row* second[] = {&study_.rows[1]};
  EXPECT_TRUE(absent_files(study_, first).empty());
  EXPECT_EQ(absent_files(study_, second),
            std::vector<std::string>{
                "study trial: the initial model of row other is nowhere, where no model.safetensors is; correct the "
                "folder, or train the model first"});
  study_.rows[1].options.set("initial-model", {"studies/first/base/seed-1/model"});
  EXPECT_TRUE(absent_files(study_, second).front().ends_with("is; it is of the study first, run that first"));
  OptionList reverse;
  reverse.set("reverse-model", {"forward"});  // a text
  study_.searches = {{"reverse", reverse}};
  EXPECT_EQ(absent_files(study_, first),
            std::vector<std::string>{"study trial: the search reverse: --reverse-model is forward, but no stage that "
                                     "trains, no given model and no folder has this name; models: both, model"});
}

TEST_F(StudyRun, NamesThatNoStageMakesAreRefused) {
  study_.stages[2].source = {"source", "backward"};
  EXPECT_THROW(check_study(study_), base::Error);
  study_.stages[2].source = {"source", "source"};
  study_.stages[2].start_from = "model";
  EXPECT_THROW(check_study(study_), base::Error);
  study_.stages[2].start_from = "both";
  study_.baseline = "absent";
  EXPECT_THROW(check_study(study_), base::Error);
}

}  // namespace
}  // namespace dragoman::study
