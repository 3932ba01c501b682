#include <gtest/gtest.h>

#include "support/program.h"

namespace dragoman::cli {
namespace {

using test_support::expect_failure;
using test_support::Outcome;
using test_support::Program;

class Vocab : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    program_ = std::make_unique<Program>();
    ASSERT_EQ(program_->run("sample-corpus --size 500 --output c").status, 0);
    const Outcome outcome = program_->run("vocab --input c/train.en c/train.de --size 400 --output v.spm");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    ASSERT_NE(outcome.out.find("400 unigram pieces"), std::string::npos) << outcome.out;
  }
  static void TearDownTestSuite() { program_.reset(); }

  static std::unique_ptr<Program> program_;
};

std::unique_ptr<Program> Vocab::program_;

TEST_F(Vocab, DecodingUndoesEncoding) {
  const std::string text = program_->read("c/test.de");
  for (const std::string ids : {"", " --ids"}) {
    ASSERT_EQ(program_->run("vocab --model v.spm --encode" + ids + " <c/test.de >encoded").status, 0);
    EXPECT_EQ(program_->run("vocab --model v.spm --decode" + ids + " <encoded").out, text);
  }
}

TEST_F(Vocab, BlankLinesStay) {
  program_->write("blank", "\nRuhe\n\n");
  const Outcome outcome = program_->run("vocab --model v.spm --encode <blank");
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 3) << outcome.out;
  EXPECT_EQ(outcome.out.front(), '\n');
}

TEST_F(Vocab, TheSameTextGivesTheSameBytes) {
  ASSERT_EQ(program_->run("vocab --input c/train.en --input c/train.de --size 400 --output again.spm").status, 0);
  EXPECT_EQ(program_->read("v.spm"), program_->read("again.spm"));
}

TEST_F(Vocab, BytePairEncodingAndItsSummary) {
  ASSERT_EQ(program_->run("vocab --input c/train.en --type bpe --size 300 --output b.spm").status, 0);
  EXPECT_NE(program_->run("vocab --model b.spm").out.find("300 bpe pieces"), std::string::npos);
}

TEST_F(Vocab, ByteLevelPiecesSpellAnyText) {
  const Outcome outcome = program_->run("vocab --input c/train.en --byte-level llama3 --size 400 --output t.json");
  ASSERT_NE(outcome.out.find("400 byte-level bpe pieces"), std::string::npos) << outcome.err;
  program_->write("any", "Ruhe, 漢字  \n\n<x>\t'LL 1234\n");
  ASSERT_EQ(program_->run("vocab --model t.json --encode --ids <any >ids").status, 0);
  EXPECT_EQ(program_->run("vocab --model t.json --decode --ids <ids").out, program_->read("any"));
  EXPECT_NE(program_->run("vocab --model t.json").out.find("400 bpe pieces"), std::string::npos);
}

TEST_F(Vocab, RefusesWhatDoesNotFitTogether) {
  expect_failure(program_->run("vocab"), 2, {"--input", "--model"});
  expect_failure(program_->run("vocab --input c/train.en"), 2, {"--output"});
  expect_failure(program_->run("vocab --model v.spm --input c/train.en"), 2, {"--model", "--input"});
  expect_failure(program_->run("vocab --model v.spm --encode --decode"), 2, {"--encode", "--decode"});
  expect_failure(program_->run("vocab --input c/train.en --output x.spm --ids"), 2, {"--ids"});
  expect_failure(program_->run("vocab --input c/train.en --output x.spm --size 4"), 2, {"size", "4"});
}

TEST_F(Vocab, RefusesBadIdsAndBadModels) {
  program_->write("ids", "5 6\n5 400\n");
  expect_failure(program_->run("vocab --model v.spm --decode --ids <ids"), 65, {"line 2", "\"400\"", "0 to 399"});
  program_->write("ids", "5 six\n");
  expect_failure(program_->run("vocab --model v.spm --decode --ids <ids"), 65, {"line 1", "\"six\""});
  expect_failure(program_->run("vocab --model c/train.en --encode"), 65, {"c/train.en"});
}

}  // namespace
}  // namespace dragoman::cli
