#include "decoding/search/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.h"

namespace dragoman::decoding {
namespace {

TEST(LengthPenalty, FollowsTheFormulas) {
  EXPECT_DOUBLE_EQ(length_penalty({.length_penalty = LengthPenalty::kGnmt, .alpha = 0.6}, 1), 1.0);
  EXPECT_DOUBLE_EQ(length_penalty({.length_penalty = LengthPenalty::kGnmt, .alpha = 0.6}, 7), std::pow(2.0, 0.6));
  EXPECT_DOUBLE_EQ(length_penalty({.length_penalty = LengthPenalty::kLength, .alpha = 1.0}, 7), 7.0);
  EXPECT_DOUBLE_EQ(length_penalty({.length_penalty = LengthPenalty::kLength, .alpha = 0.5}, 9), 3.0);
  EXPECT_DOUBLE_EQ(length_penalty({.length_penalty = LengthPenalty::kGnmt, .alpha = 0.0}, 50), 1.0);
  EXPECT_DOUBLE_EQ(length_penalty({.length_penalty = LengthPenalty::kLength, .alpha = 0.0}, 50), 1.0);
}

TEST(LengthPenalty, NeverFallsWithLength) {
  for (const LengthPenalty kind : {LengthPenalty::kGnmt, LengthPenalty::kLength}) {
    for (const double alpha : {0.0, 0.1, 0.6, 1.0, 5.0}) {
      for (int64_t length = 1; length < 500; ++length) {
        ASSERT_LE(length_penalty({.length_penalty = kind, .alpha = alpha}, length),
                  length_penalty({.length_penalty = kind, .alpha = alpha}, length + 1))
            << name_of(kind) << " alpha " << alpha << " length " << length;
      }
    }
  }
}

TEST(LengthPenalty, NamesGoBothWays) {
  EXPECT_EQ(length_penalty_from("gnmt"), LengthPenalty::kGnmt);
  EXPECT_EQ(length_penalty_from(name_of(LengthPenalty::kLength)), LengthPenalty::kLength);
  EXPECT_THROW(length_penalty_from("wu"), base::Error);
}

TEST(SearchOptions, LongestTranslationOfThePaper) {
  const SearchOptions options;
  EXPECT_EQ(options.length.longest(20, 1024), 70);
  EXPECT_EQ(options.length.longest(1000, 1024), 1024) << "never above the model's positions";
  SearchOptions ratio;
  ratio.length.max_length_ratio = 1.5;
  ratio.length.max_length_extra = 0;
  EXPECT_EQ(ratio.length.longest(3, 1024), 4);
  ratio.length.max_length_ratio = 0.0;
  EXPECT_EQ(ratio.length.longest(3, 1024), 1) << "at least one token";
}

TEST(SearchOptions, RefusesWhatIsOutOfRangeAndSaysTheRange) {
  struct Case {
    std::function<void(SearchOptions&)> change;
    const char* message;
  };
  const Case cases[] = {
      {[](SearchOptions& o) { o.beam_size = 0; }, "beam_size is 0, must be 1 to 128"},
      {[](SearchOptions& o) { o.ranking.alpha = -5.5; }, "alpha is -5.5, must be -5 to 5"},
      {[](SearchOptions& o) { o.ranking.alpha = std::nan(""); }, "alpha is nan, must be -5 to 5"},
      {[](SearchOptions& o) { o.length.min_length = -1; }, "min_length is -1, must be 0 to 100000"},
      {[](SearchOptions& o) { o.length.max_length_ratio = 101; }, "max_length_ratio is 101, must be 0 to 100"},
      {[](SearchOptions& o) { o.length.max_length_extra = -1; }, "max_length_extra is -1, must be 0 to 100000"},
      {[](SearchOptions& o) { o.rules.repetition_penalty = 0.5; }, "repetition_penalty is 0.5, must be 1 to 10"},
      {[](SearchOptions& o) { o.rules.no_repeat_ngram = -1; }, "no_repeat_ngram is -1, must be 0 to 100"},
      {[](SearchOptions& o) { o.sampling.temperature = -1; }, "sampling_temperature is -1, must be 0 to 100"},
      {[](SearchOptions& o) { o.sampling.top_k = 3; }, "sampling_top_k is 3 and sampling_top_p 1, but"},
      {[](SearchOptions& o) { o.sampling.top_p = 0; }, "sampling_top_p is 0, must be above 0, to 1"},
      {[](SearchOptions& o) { o.beam.patience = 0; }, "patience is 0, must be 0.1 to 10"},
      {[](SearchOptions& o) { o.beam.patience = 0.5, o.n_best = 3; },
       "n_best is 3, but a search with patience 0.5 ends with 2"},
      {[](SearchOptions& o) { o.ranking.coverage_penalty = -1; }, "coverage_penalty is -1, must be 0 to 10"},
      {[](SearchOptions& o) { o.ranking.reverse_weight = 11; }, "reverse_weight is 11, must be 0 to 10"},
      {[](SearchOptions& o) { o.sampling.temperature = 1, o.n_best = 129; }, "n_best is 129, must be 1 to 128"},
      {[](SearchOptions& o) { o.n_best = 5; }, "n_best is 5, must be 1 to beam_size (4)"},
      {[](SearchOptions& o) { o.execution.batch_tokens = 0; }, "batch_tokens is 0, must be 1 to 1000000"},
      {[](SearchOptions& o) { o.execution.workers = -1; }, "workers is -1, must be 0 to 1024"},
      {[](SearchOptions& o) { o.output.alignment_layer = -2; }, "alignment_layer is -2, must be -1 to 511"},
  };
  for (const Case& test : cases) {
    SearchOptions options;
    test.change(options);
    try {
      options.check();
      ADD_FAILURE() << "accepted: " << test.message;
    } catch (const base::Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(test.message));
      EXPECT_EQ(error.exit_status(), 2);
    }
  }
  EXPECT_NO_THROW(SearchOptions().check());
}

}  // namespace
}  // namespace dragoman::decoding
