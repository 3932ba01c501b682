#include <gtest/gtest.h>

#include "support/program.h"

namespace dragoman::cli {
namespace {

using test_support::expect_failure;
using test_support::Outcome;
using test_support::Program;

TEST(SampleCorpus, WritesTheCorpusAndJudgesTranslations) {
  const Program program;
  const Outcome made = program.run("sample-corpus --pair en-de --size 2000 --seed 3 --output c");
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_NE(made.out.find("test pairs"), std::string::npos) << made.out;
  const Outcome right = program.run("sample-corpus --output c --check c/test.de");
  EXPECT_EQ(right.out.find("pronoun accuracy 100.00 %"), 0U) << right.out;
  // English holds no German pronoun.
  const Outcome wrong = program.run("sample-corpus --output c --check c/test.en");
  EXPECT_EQ(wrong.out.find("pronoun accuracy 0.00 %"), 0U) << wrong.out;
}

TEST(SampleCorpus, ChineseIsWrittenAndJudgedInBothDirections) {
  const Program program;
  for (const std::string pair : {"en-zh", "zh-en"}) {
    const std::string target = pair.substr(3);
    const Outcome made = program.run("sample-corpus --pair " + pair + " --size 2000 --output " + pair);
    ASSERT_EQ(made.status, 0) << made.err;
    EXPECT_NE(made.out.find("Chinese characters"), std::string::npos) << made.out;
    const Outcome right = program.run("sample-corpus --output " + pair + " --check " + pair + "/test." + target);
    EXPECT_EQ(right.out.find("pronoun accuracy 100.00 %"), 0U) << right.out;
    const Outcome wrong =
        program.run("sample-corpus --output " + pair + " --check " + pair + "/test." + pair.substr(0, 2));
    EXPECT_EQ(wrong.out.find("pronoun accuracy 0.00 %"), 0U) << wrong.out;
  }
  expect_failure(program.run("sample-corpus --pair zh-fr --output x"), 2, {"zh-fr"});
}

TEST(SampleCorpus, CheckNeedsTheCorpusAndAllLines) {
  const Program program;
  ASSERT_EQ(program.run("sample-corpus --size 200 --output c").status, 0);
  program.write("one", "Das Tier schlief.\n");
  expect_failure(program.run("sample-corpus --output c --check one"), 65, {"test.en"});
  expect_failure(program.run("sample-corpus --output nothing --check one"), 65, {"nothing"});
  expect_failure(program.run("sample-corpus --output c --check missing"), 65, {"missing"});
  expect_failure(program.run("sample-corpus --output c --attention nothing"), 65, {"nothing"});
}

TEST(Watch, NeedsAFolder) {
  const Program program;
  expect_failure(program.run("watch --model nothing"), 2, {"nothing is no folder", "training run"});
}

}  // namespace
}  // namespace dragoman::cli
