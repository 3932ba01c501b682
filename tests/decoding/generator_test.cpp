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
