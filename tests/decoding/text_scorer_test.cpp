// Laws of scoring running text.
#include "decoding/text_scorer.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "decoding/steps/token_log_probs.h"
#include "tiny_language_model.h"

namespace dragoman::decoding {
namespace {

data::TokenText random_text(size_t size) {
  base::Random random(5);
  data::TokenText text;
  for (size_t i = 0; i < size; ++i) {
    text.ids.push_back(static_cast<int32_t>(random.below(20)));
  }
  text.starts.push_back(size);
  text.bytes = size;
  return text;
}

// log p of token `place` from the `context` tokens before it.
double alone(const models::Model& model, const data::TokenText& text, size_t place, size_t context) {
  const autograd::NoGrad inference;
  const std::span<const int32_t> before = std::span(text.ids).subspan(place - context, context);
  const tensor::Tensor hidden = model.forward({{}, models::one_sentence(before)}, {}).value();
  const auto last = static_cast<int64_t>(context);
  return token_log_probs(model, hidden.rows(last - 1, last), std::span(text.ids).subspan(place, 1)).front();
}

TEST(ScoreText, EveryTokenHasTheContextThatWindowAndStridePromise) {
  const auto model = tiny_language_model(3);
  const data::TokenText text = random_text(40);
  const TextScore score = score_text(*model, text, {.window = 12, .stride = 4}, {.workers = 2});
  ASSERT_EQ(score.tokens(), 39);
  for (size_t place = 1; place < 40; ++place) {
    // Up to token 12 all that came before; then windows end every 4 tokens, and each has 12 tokens.
    const size_t end = place <= 12 ? 12 : std::min<size_t>(39, 12 + (place - 12 + 3) / 4 * 4);
    const size_t context = place <= 12 ? place : 12 - (end - place);
    EXPECT_NEAR(score.log_probs[place - 1], alone(*model, text, place, context), 1e-4) << "token " << place;
  }
  EXPECT_NEAR(score.log_prob, std::accumulate(score.log_probs.begin(), score.log_probs.end(), 0.0), 1e-9);
}

TEST(ScoreText, BatchesAndWorkersChangeNothing) {
  const auto model = tiny_language_model(3);
  const data::TokenText text = random_text(333);
  const TextScore one = score_text(*model, text, {.window = 16}, {.batch_tokens = 1, .workers = 1});
  const TextScore many = score_text(*model, text, {.window = 16}, {.batch_tokens = 1000, .workers = 3});
  EXPECT_EQ(one.log_probs, many.log_probs);
}

TEST(ScoreText, RandomWindowsEstimateTheMeanOverAllPlaces) {
  const auto model = tiny_language_model(3);
  const data::TokenText text = random_text(60);
  double sum = 0.0;
  for (size_t begin = 0; begin + 17 <= text.size(); ++begin) {
    data::TokenText window;
    window.ids = {text.ids.begin() + static_cast<std::ptrdiff_t>(begin),
                  text.ids.begin() + static_cast<std::ptrdiff_t>(begin) + 17};
    sum += score_text(*model, window, {.window = 16}).loss();
  }
  const TextScore estimate = score_text(*model, text, {.window = 16, .random_windows = 4000});
  EXPECT_EQ(estimate.tokens(), 4000 * 16);
  EXPECT_NEAR(estimate.loss(), sum / (60 - 16), 0.05);
}

TEST(ScoreText, WhatCannotBeIsNamed) {
  const auto model = tiny_language_model(3);
  EXPECT_THROW(score_text(*model, random_text(1), {}), base::Error);
  EXPECT_THROW(score_text(*model, random_text(9), {.window = 49}), base::Error);
  EXPECT_THROW(score_text(*model, random_text(9), {.window = 4, .stride = 5}), base::Error);
}

}  // namespace
}  // namespace dragoman::decoding
