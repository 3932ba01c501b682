// Laws of continuing text, with a tiny random language model.
#include "decoding/generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "base/error.h"
#include "decoding/search/candidates.h"
#include "decoding/text_stream.h"
#include "tiny_language_model.h"

namespace dragoman::decoding {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

GenerationOptions greedy(int64_t max_tokens = 30) {
  GenerationOptions options;
  options.max_tokens = max_tokens;
  options.search.sampling = {};
  return options;
}

GenerationOptions drawn(int64_t max_tokens = 30) {
  GenerationOptions options;
  options.max_tokens = max_tokens;
  return options;
}

class GeneratorTest : public testing::Test {
 protected:
  Continuation one(const GenerationRequest& request, const GenerationOptions& options) const {
    return generator_.generate({&request, 1}, options).front();
  }

  Generator generator_{tiny_language_model(), letters()};
};

TEST_F(GeneratorTest, GreedySearchTakesTheLikeliestToken) {
  const Continuation continuation = one({.prompt = "the cat"}, greedy(12));
  std::vector<int32_t> text = continuation.prompt_ids;
  for (size_t i = 0; i < continuation.ids.size(); ++i) {
    const autograd::NoGrad inference;
    const models::Model& model = generator_.model();
    const auto hidden = model.forward({{}, models::one_sentence(text)}, {});
    const std::vector<float> logits = model.output().logits(hidden).value().to_vector<float>();
    const auto vocab = static_cast<size_t>(letters().size());
    const auto last = logits.end() - static_cast<std::ptrdiff_t>(vocab);
    EXPECT_EQ(continuation.ids[i], std::max_element(last, logits.end()) - last) << "token " << i;
    text.push_back(continuation.ids[i]);
  }
}

TEST_F(GeneratorTest, ScoresAreTheLogProbabilitiesOfTheModel) {
  const Continuation continuation = one({.prompt = "dog"}, drawn(10));
  std::vector<int32_t> text = continuation.prompt_ids;
  text.insert(text.end(), continuation.ids.begin(), continuation.ids.end());
  const autograd::NoGrad inference;
  const models::Model& model = generator_.model();
  const auto hidden = model.forward({{}, models::one_sentence(text)}, {});
  const tensor::Tensor logits = model.output().logits(hidden).value();
  for (size_t i = 0; i < continuation.ids.size(); ++i) {
    const auto row = static_cast<int64_t>(continuation.prompt_ids.size() + i) - 1;
    const std::vector<float> values = logits.rows(row, row + 1).to_vector<float>();
    EXPECT_NEAR(continuation.token_scores[i], values[static_cast<size_t>(continuation.ids[i])] - log_normaliser(values),
                1e-4);
  }
}

TEST_F(GeneratorTest, LikeliestTokensAreThoseOfEachStep) {
  for (GenerationOptions options : {greedy(10), drawn(10)}) {
    for (const double penalty : {1.0, 1.3}) {  // greedy search then sees a few of the logits, or all of them
      options.search.rules.repetition_penalty = penalty;
      const Continuation plain = one({.prompt = "the cat"}, options);
      const Continuation continuation = one({.prompt = "the cat", .likeliest = 12}, options);
      EXPECT_EQ(continuation.ids, plain.ids);
      EXPECT_TRUE(plain.likeliest.empty());
      ASSERT_EQ(continuation.likeliest.size(), continuation.token_scores.size());
      for (size_t i = 0; i < continuation.ids.size(); ++i) {
        const std::vector<LikelyToken>& likeliest = continuation.likeliest[i];
        ASSERT_EQ(likeliest.size(), 12U);
        EXPECT_TRUE(std::ranges::is_sorted(likeliest, std::greater(), &LikelyToken::log_prob));
        const auto chosen = std::ranges::find(likeliest, continuation.ids[i], &LikelyToken::id);
        if (chosen != likeliest.end()) {
          EXPECT_FLOAT_EQ(chosen->log_prob, continuation.token_scores[i]);
        } else {
          EXPECT_LE(continuation.token_scores[i], likeliest.back().log_prob);
        }
      }
    }
  }
}

TEST_F(GeneratorTest, AScoredPromptGoesOnAsAnyOther) {
  for (const std::string prompt : {"the quick brown", "x"}) {
    for (const GenerationOptions& options : {greedy(10), drawn(10)}) {
      const Continuation plain = one({.prompt = prompt}, options);
      const Continuation scored = one({.prompt = prompt, .likeliest = 3, .scores_prompt = true}, options);
      EXPECT_EQ(scored.text, plain.text);
      EXPECT_EQ(scored.ids, plain.ids);
      EXPECT_NEAR(scored.score, plain.score, 1e-4);
      ASSERT_EQ(scored.prompt_scores.token_scores.size(), prompt.size() - 1);
      ASSERT_EQ(scored.prompt_scores.likeliest.size(), prompt.size() - 1);
      const autograd::NoGrad inference;
      const models::Model& model = generator_.model();
      const auto hidden = model.forward({{}, models::one_sentence(scored.prompt_ids)}, {});
      const tensor::Tensor logits = model.output().logits(hidden).value();
      for (size_t i = 1; i < prompt.size(); ++i) {
        const auto row = static_cast<int64_t>(i);
        const std::vector<float> values = logits.rows(row - 1, row).to_vector<float>();
        EXPECT_NEAR(scored.prompt_scores.token_scores[i - 1],
                    values[static_cast<size_t>(scored.prompt_ids[i])] - log_normaliser(values), 1e-4);
      }
    }
  }
}

TEST_F(GeneratorTest, PartsTellTheScoresOfTheirTokens) {
  for (const bool scores_prompt : {false, true}) {
    std::vector<int32_t> ids;
    std::vector<float> scores, prompt_scores;
    size_t likeliest = 0;
    const GenerationRequest request{
        .prompt = "the cat", .likeliest = 2, .scores_prompt = scores_prompt, .on_part = [&](const GeneratedPart& part) {
          ids.insert(ids.end(), part.ids.begin(), part.ids.end());
          scores.insert(scores.end(), part.token_scores.begin(), part.token_scores.end());
          likeliest += part.likeliest.size();
          prompt_scores.insert(prompt_scores.end(), part.prompt_scores.token_scores.begin(),
                               part.prompt_scores.token_scores.end());
          return true;
        }};
    const Continuation continuation = one(request, drawn());
    EXPECT_EQ(ids, continuation.ids);
    EXPECT_EQ(scores, continuation.token_scores);
    EXPECT_EQ(likeliest, continuation.likeliest.size());
    EXPECT_EQ(prompt_scores, continuation.prompt_scores.token_scores);
  }
}

TEST_F(GeneratorTest, APromptAloneGivesWhatItGivesInAnyBatchWithAnyWorkers) {
  std::vector<GenerationRequest> requests;
  for (const char* prompt : {"a", "the quick brown", "", "zz.zz", "one two three four", "x", "hello there"}) {
    requests.push_back({.prompt = prompt});
  }
  for (GenerationOptions options : {greedy(), drawn()}) {
    options.search.execution.workers = 1;
    const auto together = generator_.generate(requests, options);
    options.search.execution.workers = 3;
    const auto shared = generator_.generate(requests, options);
    for (size_t i = 0; i < requests.size(); ++i) {
      const Continuation alone = one(requests[i], options);
      EXPECT_EQ(alone.text, together[i].text) << i;
      EXPECT_EQ(alone.token_scores, together[i].token_scores) << i;
      EXPECT_EQ(alone.text, shared[i].text) << i;
    }
  }
}

// Samples of one prompt and prompts that begin alike share rows of the cache, which may be rounded.
TEST(GeneratorSharing, SamplesAndPromptsThatBeginAlikeAreThoseOfEachAlone) {
  for (const kernels::Precision precision :
       {kernels::Precision::kFloat32, kernels::Precision::kBFloat16, kernels::Precision::kInt8}) {
    const auto model = tiny_language_model(3);
    model->parameters().pack_weights(precision);
    const Generator generator(model, letters());
    std::vector<GenerationRequest> requests;
    for (const char* prompt : {"the quick brown", "the quick", "the quick brown fox", "z", "the quick brown"}) {
      for (uint64_t sample = 0; sample < 5; ++sample) {
        requests.push_back({.prompt = prompt, .sample = sample});
      }
    }
    for (const int workers : {1, 2}) {
      GenerationOptions options = drawn(20);
      options.search.execution.workers = workers;
      const auto together = generator.generate(requests, options);
      for (size_t i = 0; i < requests.size(); ++i) {
        const Continuation alone = generator.generate({&requests[i], 1}, options).front();
        EXPECT_EQ(together[i].ids, alone.ids) << i << ", " << base::name_of(precision);
        EXPECT_EQ(together[i].token_scores, alone.token_scores) << i << ", " << base::name_of(precision);
      }
    }
  }
}

TEST(GeneratorSharing, TokensOfATextAreTheRowsThatItMayTake) {
  SentenceRequest first, second, translation;
  first.source = {1, 2, 3, 4};
  second.source = {1, 2, 5};
  first.continues_source = second.continues_source = true;
  first.max_length = second.max_length = 10;
  translation.source = {1, 2, 3};
  EXPECT_EQ(tokens_of(first, nullptr), 14);
  EXPECT_EQ(tokens_of(second, &first), 11) << "two are shared";
  EXPECT_EQ(tokens_of(first, &first), 10);
  EXPECT_EQ(tokens_of(translation, &translation), 3);
}

TEST_F(GeneratorTest, SubmittedPromptsGiveTheSame) {
  std::vector<std::future<std::string>> texts;
  std::vector<GenerationRequest> requests;
  for (int i = 0; i < 12; ++i) {
    requests.push_back({.prompt = std::string(static_cast<size_t>(i), 'q')});
    auto promise = std::make_shared<std::promise<std::string>>();
    texts.push_back(promise->get_future());
    generator_.submit(requests.back(), drawn(), [promise](const Continuation& done, const std::exception_ptr& error) {
      error == nullptr ? promise->set_value(done.text) : promise->set_exception(error);
    });
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(texts[i].get(), one(requests[i], drawn()).text) << i;
  }
}

TEST_F(GeneratorTest, StreamedPartsAreTheText) {
  for (const GenerationOptions& options : {greedy(), drawn()}) {
    std::string streamed;
    std::vector<int32_t> ids;
    GenerationRequest request{.prompt = "once "};
    request.on_part = [&](const GeneratedPart& part) {
      streamed += part.text;
      ids.insert(ids.end(), part.ids.begin(), part.ids.end());
      return true;
    };
    const Continuation continuation = one(request, options);
    EXPECT_EQ(streamed, continuation.text);
    EXPECT_EQ(ids, continuation.ids);
  }
}

TEST_F(GeneratorTest, ATextEndsBeforeTheFirstStopString) {
  const Continuation whole = one({.prompt = "abc"}, greedy());
  ASSERT_GE(whole.text.size(), 10U);
  GenerationOptions options = greedy();
  const std::string stop = whole.text.substr(5, 2);
  options.stop = {"never comes", stop};
  const Continuation stopped = one({.prompt = "abc"}, options);
  EXPECT_EQ(stopped.text, whole.text.substr(0, whole.text.find(stop)));
  EXPECT_EQ(stopped.finish_reason, FinishReason::kEndOfSentence);
  options.stop = {"never comes"};
  EXPECT_EQ(one({.prompt = "abc"}, options).text, whole.text);
}

TEST_F(GeneratorTest, SamplesDifferAndTheSeedDecides) {
  EXPECT_NE(one({.prompt = "abc", .sample = 0}, drawn()).text, one({.prompt = "abc", .sample = 1}, drawn()).text);
  GenerationOptions other = drawn();
  other.search.sampling.seed = 2;
  EXPECT_NE(one({.prompt = "abc"}, other).text, one({.prompt = "abc"}, drawn()).text);
  EXPECT_EQ(one({.prompt = "abc"}, drawn()).text, one({.prompt = "abc"}, drawn()).text);
}

TEST_F(GeneratorTest, TowardsTemperatureZeroDrawsAreGreedy) {
  GenerationOptions cold = drawn();
  cold.search.sampling.temperature = 1e-9;
  EXPECT_EQ(one({.prompt = "abc"}, cold).text, one({.prompt = "abc"}, greedy()).text);
}

TEST_F(GeneratorTest, TheContextBoundsTheText) {
  const Continuation full = one({.prompt = std::string(40, 'a')}, drawn(1000));
  EXPECT_LE(full.prompt_ids.size() + full.token_scores.size(), 48U);
  try {
    static_cast<void>(one({.prompt = std::string(48, 'a')}, drawn()));
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_STREQ(error.what(), "prompt: 48 tokens, the model takes 48, the new ones counted; give a shorter prompt");
  }
}

TEST_F(GeneratorTest, APromptThatFailsDoesNotHarmItsNeighbours) {
  const std::vector<GenerationRequest> requests = {
      {.prompt = "good"}, {.prompt = std::string(60, 'a')}, {.prompt = "U"}};
  const auto continuations = generator_.generate(requests, drawn(), OnError::kReport);
  EXPECT_EQ(continuations[0].text, one(requests[0], drawn()).text);
  EXPECT_THAT(continuations[1].error, HasSubstr("60 tokens"));
  EXPECT_THAT(continuations[2].error, HasSubstr("U+0055 is not in the vocabulary"));
}

TEST_F(GeneratorTest, RulesLookAtThePromptToo) {
  GenerationOptions options = greedy(20);
  options.search.rules.no_repeat_ngram = 1;
  const Continuation continuation = one({.prompt = "abcdefghij"}, options);
  std::vector<int32_t> all = continuation.prompt_ids;
  all.insert(all.end(), continuation.ids.begin(), continuation.ids.end());
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

TEST_F(GeneratorTest, TheEndIsForbiddenBeforeTheShortestLength) {
  GenerationOptions options = drawn(40);
  options.search.length.min_length = 25;
  options.search.sampling.temperature = 5.0;
  options.search.sampling.top_p = 1.0;
  for (uint64_t sample = 0; sample < 20; ++sample) {
    EXPECT_GE(one({.prompt = "a", .sample = sample}, options).ids.size(), 25U);
  }
  options.search.sampling = {};
  options.search.output.scores = false;
  EXPECT_GE(one({.prompt = "a"}, options).ids.size(), 25U);
}

TEST_F(GeneratorTest, BeamSearchFindsATextAtLeastAsProbable) {
  GenerationOptions beam = greedy(8);
  beam.search.beam_size = 8;
  beam.search.ranking.alpha = 0.0;
  const Continuation best = one({.prompt = "wide"}, beam);
  EXPECT_GE(best.score, one({.prompt = "wide"}, greedy(8)).score - 1e-5);
}

TEST_F(GeneratorTest, CancellingEndsATextEarly) {
  int parts = 0;
  GenerationRequest request{.prompt = "abc"};
  request.on_part = [&](const GeneratedPart&) { return ++parts < 3; };
  const Continuation continuation = one(request, greedy());
  EXPECT_EQ(continuation.finish_reason, FinishReason::kCancelled);
  EXPECT_LE(continuation.ids.size(), 4U);
}

TEST_F(GeneratorTest, WrongOptionsAreNamed) {
  const auto error_of = [&](const GenerationOptions& options) -> std::string {
    try {
      static_cast<void>(one({.prompt = "a"}, options));
    } catch (const base::Error& error) {
      return error.what();
    }
    return "";
  };
  GenerationOptions options = drawn(0);
  EXPECT_EQ(error_of(options), "max_tokens is 0, must be 1 or more");
  options = drawn();
  options.stop = {""};
  EXPECT_EQ(error_of(options), "stop: a stop string is empty; leave it out");
  options = drawn();
  options.search.sampling.min_p = 1.5;
  EXPECT_THAT(error_of(options), HasSubstr("min_p"));
}

// Continuations that fill the context need another search: each equals one of a prompt of what is left.
class ContextShift : public testing::TestWithParam<nn::PositionKind> {
 protected:
  static constexpr size_t kContext = 20;

  static GenerationOptions shifting(GenerationOptions options, int64_t keep = 0) {
    options.context_shift = true;
    options.context_keep = keep;
    options.search.rules.disable_unk = false;
    return options;
  }

  Continuation one(const GenerationRequest& request, const GenerationOptions& options) const {
    return generator_.generate({&request, 1}, options).front();
  }

  // The same text, one context after another.
  std::vector<int32_t> by_hand(const std::string& prompt, const GenerationOptions& options,
                               std::vector<float>& scores) {
    std::vector<int32_t> text = generator_.prompt_ids(prompt), ids;
    GenerationOptions once = options;
    once.context_shift = false;
    once.context_keep = 0;
    while (true) {
      once.max_tokens = options.max_tokens - static_cast<int64_t>(ids.size());
      const Continuation part = one({.prompt_ids = text, .sample = 3}, once);
      ids.insert(ids.end(), part.ids.begin(), part.ids.end());
      scores.insert(scores.end(), part.token_scores.begin(), part.token_scores.end());
      text.insert(text.end(), part.ids.begin(), part.ids.end());
      if (part.finish_reason != FinishReason::kLengthLimit || static_cast<int64_t>(ids.size()) == options.max_tokens) {
        return ids;
      }
      EXPECT_EQ(text.size(), kContext);
      const auto keep = static_cast<size_t>(options.context_keep);
      const auto oldest = text.begin() + options.context_keep;
      text.erase(oldest, oldest + static_cast<std::ptrdiff_t>((kContext - keep) / 2));
    }
  }

  Generator generator_{tiny_language_model(2, kContext, GetParam()), letters()};
};
INSTANTIATE_TEST_SUITE_P(Positions, ContextShift,
                         testing::Values(nn::PositionKind::kLearned, nn::PositionKind::kRotary, nn::PositionKind::kNone,
                                         nn::PositionKind::kSinusoidal),
                         [](const auto& kind) { return std::string(base::name_of(kind.param)); });

TEST_P(ContextShift, AShiftedTextGoesOnAsOneWithThatPrompt) {
  size_t longest = 0;
  for (const int64_t keep : {0, 1, 5, 17}) {
    for (const GenerationOptions& kind : {greedy(70), drawn(70)}) {
      const GenerationOptions options = shifting(kind, keep);
      for (const std::string prompt : {"abc", "the quick brown fox", "z"}) {
        const Continuation shifted = one({.prompt = prompt, .sample = 3}, options);
        std::vector<float> scores;
        EXPECT_EQ(shifted.ids, by_hand(prompt, options, scores)) << prompt << " keep " << keep;
        EXPECT_EQ(shifted.token_scores, scores) << prompt << " keep " << keep;
        EXPECT_EQ(shifted.prompt_ids, generator_.prompt_ids(prompt));
        longest = std::max(longest, shifted.ids.size());
      }
    }
  }
  EXPECT_EQ(longest, 70U);
}

TEST_P(ContextShift, ATextAloneIsTheOneInAnyBatchAndOfTheService) {
  std::vector<GenerationRequest> requests;
  for (const char* prompt : {"abc", "the quick brown fox", "z", "abc", "abcd", "hello there"}) {
    requests.push_back({.prompt = prompt, .sample = requests.size() == 3 ? 1U : 0U});
  }
  for (GenerationOptions options : {shifting(greedy(60), 2), shifting(drawn(60), 2)}) {
    options.search.execution.workers = 2;
    const auto together = generator_.generate(requests, options);
    for (size_t i = 0; i < requests.size(); ++i) {
      const Continuation alone = one(requests[i], options);
      EXPECT_EQ(alone.ids, together[i].ids) << i;
      std::promise<Continuation> promise;
      generator_.submit(requests[i], options, [&](Continuation done, const std::exception_ptr& error) {
        error == nullptr ? promise.set_value(std::move(done)) : promise.set_exception(error);
      });
      EXPECT_EQ(promise.get_future().get().ids, alone.ids) << i;
    }
  }
}

TEST_P(ContextShift, PartsAreTheTextAndStopStringsAreFoundAcrossAShift) {
  GenerationOptions options = shifting(drawn(60));
  options.search.sampling.temperature = 20.0;  // the end is as likely as any letter
  options.search.sampling.top_p = 1.0;
  uint64_t sample = 0;  // one that does not end in the first context
  Continuation whole;
  while (whole.text.size() <= 20 && sample < 300) {
    whole = one({.prompt = "abcdefgh", .sample = ++sample}, options);
  }
  ASSERT_GT(whole.text.size(), 20U);
  std::string streamed;
  std::vector<float> scores;
  const GenerationRequest request{.prompt = "abcdefgh", .sample = sample, .on_part = [&](const GeneratedPart& part) {
                                    streamed += part.text;
                                    scores.insert(scores.end(), part.token_scores.begin(), part.token_scores.end());
                                    return true;
                                  }};
  static_cast<void>(one(request, options));
  EXPECT_EQ(streamed, whole.text);
  EXPECT_EQ(scores, whole.token_scores);
  // The first context ends after 12 tokens, letters each.
  for (const size_t begin : {size_t{9}, size_t{10}, size_t{11}, size_t{12}, size_t{14}}) {
    GenerationOptions stops = options;
    stops.stop = {whole.text.substr(begin, 4)};
    const Continuation stopped = one({.prompt = "abcdefgh", .sample = sample}, stops);
    EXPECT_EQ(stopped.text, whole.text.substr(0, whole.text.find(stops.stop.front())));
    EXPECT_EQ(stopped.finish_reason, FinishReason::kEndOfSentence);
  }
}

TEST_P(ContextShift, CancellingAndDeadlinesEndItAtAnyPlace) {
  for (const size_t last : {size_t{1}, size_t{16}, size_t{17}, size_t{18}, size_t{30}}) {
    size_t tokens = 0;
    const GenerationRequest request{.prompt = "abc", .on_part = [&](const GeneratedPart& part) {
                                      tokens += part.ids.size();
                                      return tokens < last;
                                    }};
    GenerationOptions options = shifting(drawn(60));
    options.search.sampling.seed = 4;
    const Continuation continuation = one(request, options);
    if (continuation.finish_reason != FinishReason::kEndOfSentence) {
      EXPECT_EQ(continuation.finish_reason, FinishReason::kCancelled) << last;
      EXPECT_LE(continuation.ids.size(), last + 1) << last;
    }
  }
}

TEST_P(ContextShift, WhatDoesNotFitIsNamed) {
  const auto error_of = [&](const GenerationOptions& options) -> std::string {
    try {
      static_cast<void>(one({.prompt = "a"}, options));
    } catch (const base::Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of(shifting(drawn(), 18)),
            "context_keep is 18, must be 17 or less: the model has a context of 20, and some tokens must leave");
  EXPECT_EQ(error_of(shifting(drawn(), -1)), "context_keep is -1, must be 0 or more");
  GenerationOptions options = shifting(drawn(), 3);
  options.context_shift = false;
  EXPECT_EQ(error_of(options), "context_keep is 3, but nothing leaves the context; give context_shift too");
  options = shifting(drawn());
  options.search.length.min_length = 4;
  EXPECT_THAT(error_of(options), HasSubstr("min_length is 4, must be 0 with context_shift"));
  EXPECT_THROW(static_cast<void>(one({.prompt = std::string(kContext, 'a')}, shifting(drawn()))), base::Error);
}

TEST(TextStream, HandsOutWholeCharactersOnly) {
  const data::Vocabulary bytes = data::from_vocab_and_merges(
      [] {
        std::string json = "{";
        int id = 0;
        for (const char* piece : {"\u00c3", "\u00a4", "a", "\u00e4", "\u00b8", "\u0143"}) {
          json += (id == 0 ? "\"" : ", \"") + std::string(piece) + "\": " + std::to_string(id);
          ++id;
        }
        return json + "}";
      }(),
      "#version: 0.2\n");
  TextStream stream(bytes, {});
  const std::vector<int32_t> first = {2, 0}, second = {1}, third = {3, 4}, last = {5};
  EXPECT_EQ(stream.take(first), "a");
  EXPECT_EQ(stream.take(second), "\u00e4");
  EXPECT_EQ(stream.take(third), "");
  EXPECT_EQ(stream.take(last), "\u4e2d");  // E4 B8 AD
  const std::vector<int32_t> half = {3};
  EXPECT_EQ(stream.take(half), "");
  EXPECT_EQ(stream.finish(), "\uFFFD");
}

TEST(TextStream, HoldsBackWhatMayBeginAStopString) {
  const data::Vocabulary vocabulary = letters();
  TextStream stream(vocabulary, {"end.", "stop"});
  const auto take = [&](const char* text) { return stream.take(vocabulary.encode(text)); };
  EXPECT_EQ(take("the e"), "the ");
  EXPECT_EQ(take("nd"), "");
  EXPECT_EQ(take("less st"), "endless ");
  EXPECT_EQ(take("op and more"), "");
  EXPECT_TRUE(stream.is_stopped());
  EXPECT_EQ(take("x"), "");
  EXPECT_EQ(stream.finish(), "");
}

}  // namespace
}  // namespace dragoman::decoding
