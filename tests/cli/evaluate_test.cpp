#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/program.h"

namespace dragoman::cli {
namespace {

using nlohmann::json;
using test_support::expect_failure;
using test_support::Outcome;
using test_support::Program;

class Evaluate : public ::testing::Test {
 protected:
  Evaluate() {
    program_.write("hyp", "The cat sat on the mat .\nIt rained all day .\n");
    program_.write("other", "A cat sits on mats .\nIt rained all day .\n");
    program_.write("ref", "The cat sat on a mat .\nIt rained the whole day .\n");
    program_.write("short", "The cat sat on a mat .\n");
  }
  Outcome run(const std::string& options, const std::string& hypothesis = "hyp") const {
    return program_.run("evaluate --hypothesis " + hypothesis + " --reference ref " + options);
  }
  Program program_;
};

TEST_F(Evaluate, PrintsScoresWithSignatures) {
  const Outcome outcome = run("--metrics bleu,chrf,chrf++");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2"), std::string::npos);
  EXPECT_NE(outcome.out.find("chrF2|nrefs:1|"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("chrF2++|nrefs:1|"), std::string::npos) << outcome.out;
}

TEST_F(Evaluate, OptionsReachTheSignature) {
  const json row = json::parse(run("--metrics bleu --json --lowercase --tokenize intl --smooth-method floor "
                                   "--smooth-value 0.5 --reference hyp")
                                   .out);
  const std::string signature = row.at("signature");
  for (const char* part : {"nrefs:2", "case:lc", "tok:intl", "smooth:floor[0.50]"}) {
    EXPECT_NE(signature.find(part), std::string::npos) << "expected '" << part << "' in: " << signature;
  }
  const json test = json::parse(run("--metrics bleu --json --confidence --confidence-n 50 --seed 7").out);
  EXPECT_NE(std::string(test.at("signature")).find("bs:50|seed:7"), std::string::npos) << test.dump();
}

TEST_F(Evaluate, ReadsStandardInput) {
  EXPECT_EQ(run("< hyp", "-").out, run("").out);
  EXPECT_EQ(program_.run("evaluate --hypothesis - --reference ref < hyp").status, 0);
}

TEST_F(Evaluate, SentenceLevelPrintsALineEach) {
  const Outcome outcome = run("--sentence-level --metrics chrf");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 2) << outcome.out;
}

TEST_F(Evaluate, ComparesSystems) {
  const json rows = json::parse(run("--paired other --confidence-n 100 --json").out);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].at("system"), "other");
  EXPECT_TRUE(rows[1].at("BLEU").at("p_value").is_number()) << rows.dump();
}

TEST_F(Evaluate, ChineseChoosesItsTokenizersUnlessTheCommandLineDoes) {
  program_.write("ref.zh", "那只动物没有过马路。\n我很好。\n");
  program_.write("hyp.zh", "那只动物没过马路。\n我不好。\n");
  const std::string command = "evaluate --hypothesis hyp.zh --reference ref.zh --metrics bleu,ter ";
  const Outcome chosen = program_.run(command);
  EXPECT_NE(chosen.out.find("tok:zh"), std::string::npos) << chosen.out;
  EXPECT_NE(chosen.out.find("norm:yes|punct:yes|asian:yes"), std::string::npos) << chosen.out;
  EXPECT_EQ(chosen.err, "dragoman: ref.zh is Chinese: --tokenize zh --ter-normalized --ter-asian-support is chosen\n");
  const Outcome given = program_.run(command + "--tokenize char --ter-normalized=false");
  EXPECT_NE(given.out.find("tok:char"), std::string::npos) << given.out;
  EXPECT_NE(given.out.find("norm:no|punct:yes|asian:no"), std::string::npos) << given.out;
  EXPECT_EQ(given.err, "");
}

TEST_F(Evaluate, OptionsOfTerReachTheSignature) {
  const Outcome plain = run("--metrics ter");
  EXPECT_EQ(plain.out.find("TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0 = "), 0U)
      << plain.out;
  const Outcome all =
      run("--metrics ter --ter-normalized --ter-no-punct --ter-asian-support --ter-case-sensitive --confidence "
          "--confidence-n 20");
  EXPECT_NE(all.out.find("bs:20|seed:12345|case:mixed|tok:tercom|norm:yes|punct:no|asian:yes"), std::string::npos)
      << all.out;
  expect_failure(run("--metrics ter --ter-case-sensitive --lowercase"), 2, {"ter-case-sensitive"});
}

TEST_F(Evaluate, UnequalTextsAreBadData) {
  expect_failure(run("", "short"), 65, {"short", "1", "2"});
  expect_failure(run("--reference short"), 65, {"short"});
  program_.write("empty", "");
  expect_failure(program_.run("evaluate --hypothesis empty --reference empty"), 65, {"empty"});
}

}  // namespace
}  // namespace dragoman::cli
