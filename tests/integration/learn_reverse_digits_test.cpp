#include <gtest/gtest.h>

#include <sstream>

#include "base/random.h"
#include "support/program.h"
#include "support/training_runs.h"

namespace dragoman {
namespace {

constexpr int kHeldOut = 500;

int equal_lines(const std::string& seen, const std::string& expected) {
  std::istringstream left(seen), right(expected);
  int equal = 0;
  for (std::string a, b; std::getline(left, a) && std::getline(right, b);) {
    equal += a == b ? 1 : 0;
  }
  return equal;
}

// Learning it takes all parts at once: order comes from the positions, the right digit from cross-attention.
TEST(LearnReverseDigits, HeldOutStringsAreReversed) {
  const test_support::Program program;
  base::Random random(5);
  std::set<std::string> seen;
  const test_support::DigitTexts test = test_support::reversed_digits(kHeldOut, 8, random, seen);
  const test_support::DigitTexts train = test_support::reversed_digits(30'000, 8, random, seen);
  program.write("test.source", test.source);
  program.write("train.source", train.source);
  program.write("train.target", train.target);
  const test_support::Outcome training = program.run(
      "train --source train.source --target train.target --model model --vocab-size 20 --encoder-layers 2 "
      "--decoder-layers 2 --d-model 64 --d-ff 128 --n-heads 4 --norm-order pre --dropout 0 --label-smoothing 0.05 "
      "--schedule cosine --learning-rate 5e-3 --warmup-steps 100 --max-steps 900 --batch-tokens 1500 "
      "--validate-every 900 --workers 1 --average 0");
  ASSERT_EQ(training.status, 0) << training.err;
  const test_support::Outcome translation = program.run("translate --model model --input test.source");
  ASSERT_EQ(translation.status, 0) << translation.err;
  EXPECT_GT(equal_lines(translation.out, test.target), kHeldOut * 99 / 100) << training.err;
}

}  // namespace
}  // namespace dragoman
