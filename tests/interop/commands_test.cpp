// The commands import and export as programs, and other commands with an imported model.
#include <gtest/gtest.h>

#include <algorithm>

#include "marian_folders.h"
#include "support/program.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test_support::expect_failure;
using test_support::Outcome;

class Commands : public testing::Test {
 protected:
  Commands() { fs::copy(stored_folder("swish_shared"), program_.folder() / "hf"); }

  std::string lines_of(const char* key) const {
    std::string text;
    const json expected = json_of(stored_folder("swish_shared") / "expected.json");
    for (const json& row : expected["sentences"]) {
      text += row[key].get<std::string>() + "\n";
    }
    return text;
  }

  test_support::Program program_;
};

TEST_F(Commands, AnImportedModelIsTranslatedWithScoredInspectedAndExportedAgain) {
  Outcome outcome = program_.run("import --from hf-marian hf --model m");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "hf imported into m\n");
  EXPECT_NE(outcome.err.find("note: hf/source.spm: "), std::string::npos) << outcome.err;
  program_.write("in", lines_of("line"));
  ASSERT_NE(lines_of("line"), "");
  outcome = program_.run(
      "translate --model m --beam-size 1 --min-length 0 --max-length-ratio 0 --max-length-extra 22 --input in");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, lines_of("greedy_text"));
  const std::string beam = "translate --model m --min-length 0 --max-length-ratio 0 --max-length-extra 22 --input in";
  EXPECT_EQ(program_.run(beam + " --beam-rule shrinking").out, lines_of("beam_text"))
      << "beam size and length penalty come from decoding.json";
  EXPECT_EQ(program_.run(beam).out, program_.run(beam + " --beam-rule full").out) << "so does the rule";
  outcome = program_.run("score --model m --source in --target in");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(program_.run("inspect --model m --verify").status, 0);
  outcome = program_.run("export --to hf-marian back --model m");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(program_.read("back/target.spm"), program_.read("hf/target.spm"));
}

TEST_F(Commands, EachTextHasOneLineOfCandidatesWhateverThePiecesAre) {
  const fs::path folder = fs::path(DRAGOMAN_ENCODER_FOLDERS) / "roberta_words";
  Outcome outcome = program_.run("import --from hf-roberta " + folder.string() + " --model m");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  program_.write("in", "the <mask> cat\n");
  outcome = program_.run("fill-mask --model m --input in --candidates 1000");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 1);
  EXPECT_EQ(std::ranges::count(outcome.out, '\r'), 0);
  const json line = json::parse(program_.run("fill-mask --model m --input in --candidates 1000 --json").out);
  EXPECT_EQ(std::ranges::count(outcome.out, '\t') + 1, static_cast<std::ptrdiff_t>(line["masks"][0].size()));
  EXPECT_NE(outcome.out.find("\t\\n 0."), std::string::npos) << "the vocabulary has each byte";
}

TEST_F(Commands, AModelOfSeveralLanguagesTranslatesBetweenThoseThatAreAskedFor) {
  const fs::path folder = fs::path(DRAGOMAN_M2M100_FOLDERS) / "nllb";
  Outcome outcome = program_.run("import --from hf-m2m100 " + folder.string() + " --model m");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(program_.run("inspect --model m").out.find("fra_Latn"), std::string::npos)
      << "errors say that inspect lists the languages";
  program_.write("in", "the cat sleeps\n");
  const std::string translate = "translate --model m --input in --json ";
  outcome = program_.run(translate + "--source-language EN --target-language fra_Latn");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json line = json::parse(outcome.out);
  EXPECT_EQ(line["source_tokens"][0], ">>eng_Latn<<");
  EXPECT_EQ(line["tokens"][0], ">>fra_Latn<<");
  EXPECT_EQ(line["token_scores"][0], 0.0);
  expect_failure(program_.run(translate + "--source-language en --target-language fp"), 2,
                 {"target language is \"fp\", which the model does not write; near: fr"});
  expect_failure(program_.run(translate), 2, {"source language: the model reads 3 languages; name one"});
  outcome = program_.run("score --model m --source in --target in --source-language en --target-language de");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  outcome = program_.run("export --to hf-m2m100 back --model m");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  ASSERT_EQ(program_.run("import --from hf-m2m100 back --model m2").status, 0);
  EXPECT_EQ(program_.read("m2/model.safetensors"), program_.read("m/model.safetensors"));
  EXPECT_EQ(program_.read("m2/vocabulary.spm"), program_.read("m/vocabulary.spm"));
  expect_failure(program_.run("export --to hf-bart b --model m"), 65,
                 {"m/tokenizer.json: is missing; only a model that"});
  EXPECT_FALSE(fs::exists(program_.folder() / "b"));
  const std::string pair = " --source-language en --target-language fr";
  expect_failure(program_.run("shortlist --model m --source in"), 2, {"source language: the model reads 3 languages"});
  expect_failure(program_.run("shortlist --model m --source in --target in --source-language xx"), 2,
                 {"source language is \"xx\", which the model does not read"});
  for (const char* from :
       {"shortlist --model m --source in", "shortlist --model m --source in --target in --frequent 0"}) {
    outcome = program_.run(from + pair);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(json::parse(program_.run(translate + "--shortlist" + pair).out)["tokens"][0], ">>fra_Latn<<");
    expect_failure(program_.run(translate + "--shortlist --source-language en --target-language de"), 2,
                   {"shortlist: was learned from translations without >>deu_Latn<<"});
  }
  expect_failure(program_.run("tune --model m --source in --target in"), 2, {"source language: the model reads 3"});
  outcome = program_.run("tune --model m --source in --target in --beam-sizes 1,2 --alphas 0.6 --dry-run" + pair);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  outcome = program_.run("evaluate --hypothesis in --reference in --target-language zho_Hans");
  EXPECT_NE(outcome.out.find("tok:zh"), std::string::npos) << outcome.out;
}

TEST_F(Commands, AnImportedEncoderMakesVectorsAndNoText) {
  const fs::path folder = fs::path(DRAGOMAN_ENCODER_FOLDERS) / "bert_bare";
  Outcome outcome = program_.run("import --from hf-bert " + folder.string() + " --model m");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  program_.write("in", "The cat sleeps.\n\n");
  outcome = program_.run("embed --model m --input in");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 2);
  EXPECT_EQ(std::ranges::count(outcome.out, '\t'), 2 * 15);
  outcome = program_.run("embed --model m --input in --json");
  const json first = json::parse(outcome.out.substr(0, outcome.out.find('\n')));
  EXPECT_EQ(first["text"], "The cat sleeps.");
  EXPECT_EQ(first["embedding"].size(), 16U);
  std::string words;
  for (int word = 0; word < 60; ++word) {
    words += "the ";
  }
  program_.write("long", words + "\n");
  outcome = program_.run("embed --model m --input long");
  EXPECT_NE(outcome.err.find("lost their end"), std::string::npos) << outcome.err;
  outcome = program_.run("embed --model m --input long --stride 8");
  EXPECT_EQ(outcome.err.find("lost their end"), std::string::npos) << outcome.err;
  program_.write("pairs", "The cat sleeps.\tThe cat sleeps.\nThe cat sleeps.\tcats\n");
  outcome = program_.run("embed --model m --similarity --input pairs");
  EXPECT_EQ(outcome.out.substr(0, 9), "1.000000\n") << outcome.err;
  expect_failure(program_.run("embed --model m --similarity --input in"), 65, {"in:1: has one text"});
  outcome = program_.run("export --to hf-bert back --model m");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(fs::exists(program_.folder() / "back" / "1_Pooling" / "config.json"));
  ASSERT_EQ(program_.run("import --from hf-bert back --model m2").status, 0);
  EXPECT_EQ(program_.run("embed --model m2 --input in").out, program_.run("embed --model m --input in").out);
  expect_failure(program_.run("export --to hf-distilbert d --model m"), 65, {"segments is 2, DistilBERT has 0 only"});
  EXPECT_FALSE(fs::exists(program_.folder() / "d"));
  const char* const reason = "m: holds an encoder";
  expect_failure(program_.run("translate --model m --input in"), 2, {reason});
  expect_failure(program_.run("generate --model m --prompt a"), 2, {reason});
  ASSERT_EQ(program_.run("import --from hf-marian hf --model n").status, 0);
  expect_failure(program_.run("embed --model n --input in"), 2, {"n: holds a transformer model, which is no encoder"});
}

TEST_F(Commands, APlaceThatIsTakenIsLeftAlone) {
  fs::create_directory(program_.folder() / "m");
  program_.write("m/notes", "mine");
  expect_failure(program_.run("import --from hf-marian hf --model m"), 2, {"m: is there already"});
  EXPECT_EQ(program_.read("m/notes"), "mine");
  ASSERT_EQ(program_.run("import --from hf-marian hf --model new").status, 0);
  expect_failure(program_.run("export --to hf-marian m --model new"), 2, {"m: is there already"});
}

TEST_F(Commands, AFolderThatCannotBeImportedLeavesNothingBehind) {
  fs::remove(program_.folder() / "hf" / "vocab.json");
  expect_failure(program_.run("import --from hf-marian hf --model m"), 65, {"hf/vocab.json"});
  EXPECT_FALSE(fs::exists(program_.folder() / "m"));
}

TEST_F(Commands, WrongUseEndsWithStatusTwo) {
  expect_failure(program_.run("import --from onnx hf --model m"), 2, {"hf-marian"});
  expect_failure(program_.run("import hf --model m"), 2, {"--from"});
  expect_failure(program_.run("export --to hf-marian --model m"), 2, {"DIR is required"});
}

}  // namespace
}  // namespace dragoman::interop
