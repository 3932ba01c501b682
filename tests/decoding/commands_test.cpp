// The commands translate, score and attention as programs, on a model folder with random weights.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/folder_lock.h"
#include "decoding/load_translator.h"
#include "models/languages.h"
#include "models/model_folder.h"
#include "models/model_tensors.h"
#include "support/background_program.h"
#include "support/compressed.h"
#include "support/program.h"
#include "support/terminal.h"
#include "tiny_model.h"
#include "tiny_vocabulary.h"

namespace dragoman::decoding {
namespace {

using nlohmann::json;
using test_support::expect_failure;
using test_support::Outcome;

class Commands : public testing::Test {
 protected:
  Commands() {
    const auto model = tiny_model(nn::NormOrder::kPre, 1, vocabulary().size());
    models::publish_model_folder(program_.folder() / "model",
                                 {.config = models::to_json(model->config()),
                                  .tensors = models::named_tensors(model->parameters()),
                                  .vocabularies = {{"vocabulary.spm", vocabulary().bytes()}}});
    program_.write("in", "the cat runs\n\nthe dog, the \xFF mouse.\r\n \nred");
  }
  Outcome translate(const std::string& options) const { return program_.run("translate --model model " + options); }

  test_support::Program program_;
};

size_t count_lines(const std::string& text) {
  return static_cast<size_t>(std::ranges::count(text, '\n'));
}

TEST_F(Commands, TranslateAnswersEveryLineAsTheLibraryDoes) {
  const Outcome outcome = translate("--input in");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Translator translator = load_translator(program_.folder() / "model");
  std::string expected;
  const std::vector<std::string> lines = {"the cat runs", "", "the dog, the \xEF\xBF\xBD mouse.", " ", "red"};
  for (const Translation& translation : translator.translate(lines, {})) {
    expected += translation.text + "\n";
  }
  EXPECT_EQ(outcome.out, expected);
}

TEST_F(Commands, FilesPipesWorkersAndBatchesGiveTheSameBytes) {
  const std::string expected = translate("--input in").out;
  EXPECT_EQ(translate("< in").out, expected);
  EXPECT_EQ(translate("--input - < in").out, expected);
  EXPECT_EQ(translate("--input in --workers 1 --batch-tokens 1").out, expected);
  EXPECT_EQ(translate("--input in --workers 3").out, expected);
  ASSERT_EQ(translate("--input in --output out").status, 0);
  EXPECT_EQ(program_.read("out"), expected);
  EXPECT_EQ(translate("--input in --output /dev/null").status, 0);
  EXPECT_FALSE(std::filesystem::is_regular_file("/dev/null")) << "a device is written to, not replaced";
}

TEST_F(Commands, AnOutputFileGrowsAsideAndAppearsWhole) {
  const std::filesystem::path pipe = program_.folder() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  test_support::BackgroundProgram run(program_.folder(),
                                      {"translate", "--model", "model", "--input", "pipe", "--output", "out"});
  std::ofstream lines(pipe);
  for (const size_t expected : {size_t{1}, size_t{2}}) {
    lines << "the cat runs" << std::endl;
    EXPECT_TRUE(test_support::wait_until([&] { return count_lines(program_.read("out.tmp")) == expected; }))
        << "expected " << expected << " lines in out.tmp, saw: " << program_.read("out.tmp") << run.errors();
    EXPECT_FALSE(std::filesystem::exists(program_.folder() / "out"));
  }
  lines.close();
  EXPECT_EQ(run.wait(), 0) << run.errors();
  EXPECT_EQ(count_lines(program_.read("out")), 2U);
  EXPECT_FALSE(std::filesystem::exists(program_.folder() / "out.tmp"));
}

// A rounded folder is a model folder: it translates as the model rounded at load, and damage is found.
TEST_F(Commands, QuantizedFoldersTranslateAsTheModelRoundedAtLoad) {
  for (const std::string precision : {"int8", "bfloat16"}) {
    const std::string folder = "model." + precision;
    const Outcome outcome = program_.run("quantize --model model --output " + folder + " --precision " + precision);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "model written to " + folder + " in " + precision + "\n");
    const Outcome seen = program_.run("translate --json --input in --model " + folder);
    EXPECT_EQ(seen.status, 0) << seen.err;
    EXPECT_EQ(seen.out, translate("--json --input in --precision " + precision).out) << precision;
    EXPECT_NE(program_.run("inspect --verify --model " + folder).out.find("tensors of " + precision),
              std::string::npos);
    EXPECT_LT(std::filesystem::file_size(program_.folder() / folder / "model.safetensors"),
              std::filesystem::file_size(program_.folder() / "model" / "model.safetensors") *
                  (precision == "int8" ? 5 : 6) / 10);
    EXPECT_EQ(program_.run("score --source in --target in --model " + folder).status, 0);
    expect_failure(program_.run("quantize --output again --model " + folder), 65, {"quantize", "model.safetensors"});
    expect_failure(program_.run("quantize --output " + folder + " --model model"), 2, {"is there already"});
    expect_failure(program_.run("train --source in --target in --max-steps 1 --model " + folder), 2,
                   {folder, "rounded to " + precision});
  }
  std::string weights = program_.read("model.int8/model.safetensors");
  weights[weights.size() / 2] ^= 1;
  program_.write("model.int8/model.safetensors", weights);
  expect_failure(program_.run("translate --input in --model model.int8"), 65,
                 {"model.int8/model.safetensors", "SHA-256"});
}

TEST_F(Commands, EmptyInputGivesEmptyOutput) {
  EXPECT_EQ(translate("").out, "");
  EXPECT_EQ(translate("").status, 0);
}

TEST_F(Commands, JsonHoldsTokensScoresAndAlignment) {
  const Outcome outcome = translate("--input in --json --soft-alignment --nbest 2");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(count_lines(outcome.out), 5U);
  const json first = json::parse(outcome.out.substr(0, outcome.out.find('\n')));
  EXPECT_EQ(first["line"], 1);
  EXPECT_EQ(first["source"], "the cat runs");
  EXPECT_EQ(first["source_tokens"].back(), "</s>");
  EXPECT_EQ(first["alignment"].size(), first["tokens"].size());
  EXPECT_EQ(first["attention"].size(), first["tokens"].size());
  EXPECT_EQ(first["alternatives"].size(), 1U);
  EXPECT_EQ(first["token_scores"].size(), first["tokens"].size() + first["ends_scored"].get<size_t>());
  EXPECT_EQ(first["ends_scored"], first["finish_reason"] == "end_of_sentence" ? 1 : 0);
  double sum = 0.0;
  for (const json& score : first["token_scores"]) {
    sum += score.get<double>();
  }
  EXPECT_NEAR(first["score"].get<double>(), sum, 1e-4);
}

TEST_F(Commands, AReverseModelChoosesAmongTheHypotheses) {
  const auto reverse = tiny_model(nn::NormOrder::kPre, 2, vocabulary().size());
  models::publish_model_folder(program_.folder() / "reverse",
                               {.config = models::to_json(reverse->config()),
                                .tensors = models::named_tensors(reverse->parameters()),
                                .vocabularies = {{"vocabulary.spm", vocabulary().bytes()}}});
  const std::string with_reverse = "--input in --reverse-model reverse --reverse-weight 0.7 ";
  const Outcome outcome = translate(with_reverse + "--json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json first = json::parse(outcome.out.substr(0, outcome.out.find('\n')));
  EXPECT_LT(first["reverse_score"].get<double>(), 0.0);
  const std::string plain = translate(with_reverse).out;
  EXPECT_EQ(plain.substr(0, plain.find('\n')), first["text"].get<std::string>());
  const std::vector<std::filesystem::path> folders = {program_.folder() / "model"};
  const auto translator = load_ensemble(folders, {}, program_.folder() / "reverse");
  SearchOptions options;
  options.ranking.reverse_weight = 0.7;
  const std::string line = "the cat runs";
  EXPECT_EQ(translator->translate({&line, 1}, options).at(0).text, first["text"].get<std::string>());
  EXPECT_NE(translate(with_reverse + "--nbest 2").out.find(" reverse_log_prob=-"), std::string::npos);
  for (const std::string wrong :
       {"--beam-size 1", "--reverse-weight 0", "--sampling-temperature 1", "--alternatives"}) {
    expect_failure(translate("--input in --reverse-model reverse " + wrong), 2, {"--reverse-model", "beam size of 2"});
  }
  expect_failure(translate("--input in --reverse-model nowhere"), 65, {"nowhere"});
}

TEST_F(Commands, AReverseModelOfTheSameDirectionIsWarnedOfIfTheFoldersSayTheirLanguages) {
  const auto publish = [&](const std::string& name, const std::string& languages) {
    const auto model = tiny_model(nn::NormOrder::kPre, 1, vocabulary().size());
    models::publish_model_folder(program_.folder() / name, {.config = models::to_json(model->config()),
                                                            .tensors = models::named_tensors(model->parameters()),
                                                            .vocabularies = {{"vocabulary.spm", vocabulary().bytes()}},
                                                            .languages = languages});
  };
  publish("forward", models::languages_json(models::LanguagePair{"en", "de"}));
  publish("same", models::languages_json(models::LanguagePair{"en", "de"}));
  publish("other", models::languages_json(models::LanguagePair{"de", "en"}));
  publish("silent", "");
  program_.write("good", "cat\n");
  const auto run = [&](const std::string& model, const std::string& reverse) {
    return program_.run("translate --input good --model " + model + " --reverse-model " + reverse);
  };
  EXPECT_THAT(
      run("forward", "same").err,
      testing::HasSubstr("same translates from en to de, as --model does; a reverse model translates from de to "
                         "en, or both ways"));
  for (const auto& [model, reverse] : {std::pair{"forward", "other"}, {"forward", "silent"}, {"silent", "same"}}) {
    EXPECT_THAT(run(model, reverse).err, testing::Not(testing::HasSubstr("as --model does"))) << model << reverse;
  }
}

TEST_F(Commands, QuietLeavesErrorsAndWarningsAlone) {
  program_.write("good", "cat\n");
  EXPECT_THAT(translate("--input good").err, testing::HasSubstr("tokens/s"));
  EXPECT_EQ(translate("--input good --quiet").err, "");
  EXPECT_EQ(translate("-q -i good").err, "");
  EXPECT_EQ(translate("-q -i good").out, translate("--input good").out);
  EXPECT_EQ(program_.run("score -m model --source good --target good -q").err, "");
  EXPECT_THAT(translate("--quiet --input in").err, testing::StartsWith("dragoman: in: 1 line held invalid UTF-8"));
  expect_failure(translate("--quiet --input missing"), 65, {"missing"});
  program_.write("quiet.yaml", "quiet: true\n");
  EXPECT_EQ(translate("--input good --config quiet.yaml").err, "");
}

// The line of the shell then does not begin behind "> ".
TEST_F(Commands, ASignalEndsThePromptsLine) {
  test_support::Terminal terminal(program_.folder(), {"translate", "--model", "model"});
  ASSERT_TRUE(terminal.shows("> ")) << terminal.text();
  terminal.type("\x03");
  EXPECT_EQ(terminal.wait(), 130);
  EXPECT_THAT(terminal.text(), testing::EndsWith("\n")) << terminal.text();
}

TEST_F(Commands, NBestListsAreInMosesFormat) {
  const Outcome outcome = translate("--input in --nbest 3");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::StartsWith("0 ||| "));
  EXPECT_THAT(outcome.out, testing::HasSubstr("\n4 ||| "));
  EXPECT_EQ(count_lines(outcome.out), 3U * 3U + 2U) << "three for each sentence, one for each blank line";
}

TEST_F(Commands, LongLinesAreNamed) {
  base::Random random(9);
  program_.write("long", "the cat\n" + random_line(random, 200) + "\nthe dog\n");
  const Outcome outcome = translate("--input long");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(count_lines(outcome.out), 3U);
  EXPECT_THAT(outcome.err, testing::HasSubstr("long line 2: "));
}

std::string json_of(int beam_size, double alpha) {
  return fmt::format(R"({{"alpha": {}, "beam_size": {}, "length_penalty": "gnmt"}})", alpha, beam_size);
}

TEST_F(Commands, AModelIsSearchedAsItsFolderSaysUnlessFlagsSayOtherwise) {
  const std::string plain = translate("--input in --json").out,
                    greedy = translate("--input in --json --beam-size 1").out;
  ASSERT_NE(plain, greedy) << "the searches must differ for this test";
  models::store_decoding(program_.folder() / "model", json_of(1, 0.6));
  EXPECT_EQ(translate("--input in --json").out, greedy);
  EXPECT_EQ(translate("--input in --json --beam-size 4").out, plain);
  EXPECT_EQ(translate("--input in --json --alpha 0.6").out, greedy) << "one flag leaves the others to the model";
  expect_failure(translate("--nbest 2"), 2, {"--nbest is 2, must be 1 to --beam-size (1)"});
  models::store_decoding(program_.folder() / "model", json_of(6, 0.6));
  EXPECT_EQ(translate("--nbest 6 --input in").status, 0) << "the model's beam size counts";
  const Outcome inspected = program_.run("inspect --model model --verify");
  EXPECT_EQ(inspected.status, 0) << inspected.err;
  EXPECT_THAT(inspected.out, testing::ContainsRegex("decoding\n +alpha +0.6\n +beam_size +6\n"));
  std::ofstream(program_.folder() / "model" / "decoding.json", std::ios::app) << " ";
  expect_failure(translate("--input in"), 65, {"decoding.json", "the manifest says"});
}

TEST_F(Commands, TuneStoresTheSearchThatScoresBest) {
  program_.write("source", "the cat runs\nthe dog, the mouse.\nred\na bird\n");
  // The references are what beam 3 finds, so that it scores 100.
  program_.write("target", translate("--input source --beam-size 3 --alpha 0.4").out);
  const std::string command =
      "tune --model model --source source --target target --metric chrf --beam-sizes 3,1 --alphas 0,0.4 "
      "--significance 1";
  const Outcome dry = program_.run(command + " --dry-run");
  ASSERT_EQ(dry.status, 0) << dry.err;
  EXPECT_FALSE(std::filesystem::exists(program_.folder() / "model" / "decoding.json"));
  EXPECT_EQ(count_lines(dry.out), 2U + 4U + 1U + 4U)
      << "the usual search, greedy search once, beam 3 with each alpha; best, usual, p and choice: " << dry.out;
  const std::string usual = translate("--input source --json --beam-size 4 --alpha 0.6").out;
  size_t cut = 0;
  for (size_t at = usual.find("length_limit"); at != std::string::npos; at = usual.find("length_limit", at + 1)) {
    ++cut;
  }
  EXPECT_THAT(dry.out, testing::ContainsRegex(fmt::format("\n. 4 . gnmt . 0.6 . [0-9.]+ . [0-9.]+ . {} .\n", cut)));
  const std::string weights = program_.read("model/model.safetensors");
  const Outcome tuned = program_.run(command);
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_THAT(tuned.out, testing::HasSubstr("model/decoding.json: beam size 3, gnmt length penalty, alpha 0"));
  EXPECT_THAT(tuned.out, testing::HasSubstr("chrF 100.00"));
  EXPECT_EQ(program_.read("model/model.safetensors"), weights);
  EXPECT_EQ(translate("--input source").out, program_.read("target"));
  EXPECT_EQ(program_.run("inspect --model model --verify").status, 0);
}

TEST_F(Commands, TuneRefusesWhatItCannotUse) {
  program_.write("source", "the cat\nthe dog\n");
  program_.write("target", "the cat\n");
  expect_failure(program_.run("tune --model model --source source --target target"), 65,
                 {"2 source lines, 1 target lines"});
  expect_failure(program_.run("tune --model model --source source --target source --beam-sizes 0"), 2,
                 {"tune: --beam-sizes is 0, must be 1 to 128\n"});
  expect_failure(program_.run("tune --model missing --source source --target source"), 65, {"missing"});
  const base::FolderLock lock(program_.folder() / "model");
  expect_failure(program_.run("tune --model model --source source --target source"), 1, {"in use by process"});
  EXPECT_EQ(program_.run("tune --model model --source source --target source --beam-sizes 1 --dry-run").status, 0);
}

TEST_F(Commands, PrefixTermsAndBannedPhrasesAreObeyed) {
  program_.write("prefix", "the red\n\n\n\nthe green mouse\n");
  const Outcome prefixed = translate("--input in --prefix prefix");
  ASSERT_EQ(prefixed.status, 0) << prefixed.err;
  EXPECT_THAT(prefixed.out, testing::ContainsRegex("^the red"));
  EXPECT_THAT(prefixed.out, testing::ContainsRegex("\nthe green mouse[^\n]*\n$"));
  program_.write("terms", "cat\tgreen house\n");
  EXPECT_THAT(translate("--input in --terms terms").out, testing::ContainsRegex("^[^\n]*green house"));
  const std::string plain = translate("--input in").out;
  const std::string word = plain.substr(0, plain.find_first_of(" \n"));
  program_.write("banned", word + "\n");
  const Outcome without = translate("--input in --banned banned");
  ASSERT_EQ(without.status, 0) << without.err;
  EXPECT_FALSE(without.out.starts_with(word + " ") || without.out.starts_with(word + "\n")) << without.out;
  EXPECT_EQ(count_lines(without.out), 5U);
  expect_failure(translate("--input in --terms prefix"), 65, {"prefix line 1: \"the red\" has no tab"});
  program_.write("short", "the\n");
  expect_failure(translate("--input in --prefix short"), 65, {"short: has 1 lines, the input has more"});
  program_.write("long", "\n\n\n\n\n\n");
  expect_failure(translate("--input in --prefix long"), 65, {"long: has more lines than the input (5)"});
}

TEST_F(Commands, WhatIsDemandedAndBannedIsRefusedBeforeAnySearch) {
  program_.write("terms", "dog\tred\ncat\tgreen house\n");
  program_.write("banned", "house\n");
  const Outcome outcome = translate("--input in --terms terms --banned banned");
  expect_failure(outcome, 65, {"terms: \"cat\" demands \"green house\", and banned bans \"house\"; leave out"});
  EXPECT_EQ(outcome.out, "");
  program_.write("banned", "greens\n");
  EXPECT_EQ(translate("--input in --terms terms --banned banned").status, 0);
}

TEST_F(Commands, AByteOrderMarkIsNoTextInAnyFile) {
  const std::string mark = "\xEF\xBB\xBF";
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
           {"input", "cat\n"}, {"terms", "cat\tgreen house\n"}, {"banned", "the\n"}, {"prefix", "the red\n"}}) {
    program_.write("input", "cat\n");
    program_.write(name + "1", text);
    program_.write(name + "2", mark + text);
    const std::string others = name == "input" ? "" : "--input input ";
    const Outcome plain = translate(others + "--" + name + " " + name + "1");
    ASSERT_EQ(plain.status, 0) << plain.err;
    EXPECT_EQ(translate(others + "--" + name + " " + name + "2").out, plain.out) << name;
  }
}

TEST_F(Commands, CompressedInputIsReadAndOtherEncodingsAreRefused) {
  const std::string expected = translate("--input in").out;
  const std::string scores = program_.run("score --model model --source in --target in").out;
  for (const auto& [ending, compress] : test_support::compressors()) {
    program_.write("packed", compress(program_.read("in")));
    EXPECT_EQ(translate("--input packed").out, expected) << ending;
    EXPECT_EQ(translate("< packed").out, expected) << ending;
    EXPECT_EQ(program_.run("score --model model --source packed --target in").out, scores) << ending;
    program_.write("cut", compress(program_.read("in")).substr(0, 20));
    const Outcome cut = translate("--input cut --output out");
    expect_failure(cut, 65, {"cut: ends in the middle of its compressed data"});
    EXPECT_FALSE(std::filesystem::exists(program_.folder() / "out"));
  }
  program_.write("wide", std::string("\xFF\xFE"
                                     "c\0a\0t\0\n\0",
                                     10));
  expect_failure(translate("--input wide"), 65, {"wide: is UTF-16", "iconv -f UTF-16 -t UTF-8 wide"});
  expect_failure(translate("< wide"), 65, {"standard input: is UTF-16"});
  expect_failure(program_.run("score --model model --source wide --target in"), 65, {"wide: is UTF-16"});
}

TEST_F(Commands, RepairedLinesAreReported) {
  const std::string note = "in: 1 line held invalid UTF-8 or NUL and was repaired (first: line 3)";
  expect_failure(translate("--input in"), 0, {"dragoman: " + note});
  expect_failure(translate("< in"), 0, {"dragoman: standard " + note.substr(0, 2) + "put" + note.substr(2)});
  program_.write("good", "cat\n");
  EXPECT_EQ(translate("--input good").err.find("repaired"), std::string::npos);
  expect_failure(program_.run("score --model model --source in --target in"), 0, {"dragoman: " + note});
}

// As `cat` does. The line is far longer than a pipe holds, so the writer sees that the reader has gone.
TEST_F(Commands, AReaderThatGoesIsNoError) {
  std::string many;
  for (int line = 0; line < 20'000; ++line) {
    many += "the cat runs\n";
  }
  program_.write("many", many);
  for (const std::string& command : {std::string("translate --model model --beam-size 1 --input many"),
                                     std::string("score --model model --source many --target many"),
                                     std::string("vocab --model model/vocabulary.spm --encode < many")}) {
    program_.run(command + " 2>said; echo $? >status ) | head -n 1 >first; ( true");
    EXPECT_EQ(count_lines(program_.read("first")), 1U) << command;
    EXPECT_EQ(program_.read("status"), "141\n") << command;
    EXPECT_EQ(program_.read("said").find("cannot write"), std::string::npos) << program_.read("said");
  }
}

TEST_F(Commands, SamplesAlternativesAndEnsembles) {
  const Outcome samples = translate("--input in --sampling-temperature 1 --nbest 7 --beam-size 1");
  ASSERT_EQ(samples.status, 0) << samples.err;
  EXPECT_EQ(count_lines(samples.out), 3U * 7U + 2U);
  EXPECT_EQ(translate("--input in --sampling-temperature 1 --nbest 7 --workers 3 --batch-tokens 3").out, samples.out);
  EXPECT_NE(translate("--input in --sampling-temperature 1 --nbest 7 --seed 2").out, samples.out);
  expect_failure(translate("--sampling-top-k 4"), 2, {"--sampling-temperature is 0, which draws nothing"});
  const Outcome alternatives = translate("--input in --alternatives --nbest 6");
  ASSERT_EQ(alternatives.status, 0) << alternatives.err;
  EXPECT_EQ(count_lines(alternatives.out), 3U * 6U + 2U);
  EXPECT_EQ(translate("--model model --input in").out, translate("--input in").out) << "one model twice votes as once";
  const auto other = tiny_model(nn::NormOrder::kPost, 2, vocabulary().size());
  models::publish_model_folder(program_.folder() / "other",
                               {.config = models::to_json(other->config()),
                                .tensors = models::named_tensors(other->parameters()),
                                .vocabularies = {{"vocabulary.spm", vocabulary().bytes()}}});
  const Outcome both = translate("--model other --input in");
  ASSERT_EQ(both.status, 0) << both.err;
  EXPECT_NE(both.out, translate("--input in").out);
}

TEST_F(Commands, ModelsOfOtherVocabulariesDoNotVote) {
  program_.write("text", "ein haus\nzwei katzen und drei hunde laufen um das haus\n");
  data::VocabularyOptions options;
  options.size = 40;
  const data::Vocabulary german = data::train_vocabulary({program_.folder() / "text"}, options).vocabulary;
  const auto model = tiny_model(nn::NormOrder::kPost, 2, german.size());
  models::publish_model_folder(program_.folder() / "german", {.config = models::to_json(model->config()),
                                                              .tensors = models::named_tensors(model->parameters()),
                                                              .vocabularies = {{"vocabulary.spm", german.bytes()}}});
  expect_failure(translate("--model german --input in"), 65, {"german: its source vocabulary is not that of model"});
}

TEST_F(Commands, WrongUseIsRefused) {
  expect_failure(translate("--nbest 5"), 2,
                 {"dragoman translate: --nbest is 5, must be 1 to --beam-size (4); raise --beam-size to get more",
                  "\nUsage: dragoman translate --model DIR [OPTION]...\n"});
  expect_failure(translate("--beam-size 0"), 2,
                 {"dragoman translate: --beam-size is 0, must be 1 to 128\nUsage: dragoman translate --model DIR"});
  expect_failure(translate("--sampling-top-p 2"), 2, {"translate: --sampling-top-p is 2, must be above 0, to 1\n"});
  expect_failure(translate("--length-penalty wu"), 2, {"length-penalty"});
  expect_failure(program_.run("translate --model missing"), 65, {"missing"});
  expect_failure(translate("--input missing"), 65, {"missing"});
  expect_failure(translate("--input in --output missing/out"), 74, {"missing/out", "check that the folder exists"});
  expect_failure(translate("--input in > /dev/full"), 74, {"standard output"});
}

TEST_F(Commands, ScorePrintsEveryPairAndPerplexity) {
  program_.write("target", "the cat\n\nthe dog\n \nred\n");
  const Outcome outcome = program_.run("score --model model --source in --target target");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(count_lines(outcome.out), 5U);
  EXPECT_THAT(outcome.out, testing::HasSubstr("\n0.000000\t0.000000\t0\n"));
  EXPECT_THAT(outcome.err, testing::HasSubstr("perplexity "));
  program_.write("short", "the cat\n");
  expect_failure(program_.run("score --model model --source in --target short"), 65, {"5 lines", "the target 1"});
}

TEST_F(Commands, AttentionWritesAPage) {
  const Outcome outcome = program_.run("attention --model model --text 'the red cat' --output page.html");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(program_.read("page.html"), testing::HasSubstr("the red cat"));
  expect_failure(program_.run("attention --model model --text ' ' --output page.html"), 2, {"blank"});
}

}  // namespace
}  // namespace dragoman::decoding
