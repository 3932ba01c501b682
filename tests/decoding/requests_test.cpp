// What one sentence may ask for: prefix, alternatives, stream, cancel, deadline; and several models as one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "decoding/parallel_search.h"
#include "decoding/scorer.h"
#include "decoding/steps/ensemble_steps.h"
#include "decoding/steps/model_steps.h"
#include "id_phrases.h"
#include "support/error_of.h"
#include "table_model.h"
#include "tiny_model.h"

namespace dragoman::decoding {
namespace {

SearchOptions options_of(int beam_size) {
  SearchOptions options;
  options.beam_size = beam_size;
  options.length.max_length_extra = 15;
  return options;
}

void expect_same(const std::vector<Hypothesis>& expected, const std::vector<Hypothesis>& seen, size_t sentence) {
  ASSERT_EQ(expected.size(), seen.size()) << "sentence " << sentence;
  for (size_t rank = 0; rank < expected.size(); ++rank) {
    EXPECT_EQ(expected[rank].ids, seen[rank].ids) << "sentence " << sentence << " rank " << rank;
    EXPECT_EQ(expected[rank].score, seen[rank].score) << "sentence " << sentence << " rank " << rank;
    EXPECT_EQ(expected[rank].token_scores, seen[rank].token_scores) << "sentence " << sentence << " rank " << rank;
    EXPECT_EQ(expected[rank].finish_reason, seen[rank].finish_reason) << "sentence " << sentence << " rank " << rank;
  }
}

TEST(Prefill, EqualsStepsBitForBit) {
  const auto model = tiny_model(nn::NormOrder::kPre);
  const Ids input = {data::kBosId, 7, 30, 11, 11, 42, 5};
  for (const Ids& source : random_sources(4, 41)) {
    ModelSteps at_once(*model);
    ModelSteps by_steps(*model);
    const std::span<const int32_t> sentence = source;
    const int32_t slot = at_once.add({&sentence, 1}).at(0);
    by_steps.add({&sentence, 1});
    const std::vector<int> layers = {kLastLayer};
    at_once.want_attention(layers);
    const tensor::Tensor filled = at_once.prefill(slot, input);
    EXPECT_EQ(at_once.attention(kLastLayer).dim(0), static_cast<int64_t>(input.size()));
    const tensor::Tensor stepped = by_steps.StepModel::prefill(slot, input);
    EXPECT_EQ(filled.to_vector<float>(), stepped.to_vector<float>());
    const StepRow next[] = {{slot, 0, 9}, {slot, 0, 12}};
    EXPECT_EQ(at_once.step(next).to_vector<float>(), by_steps.step(next).to_vector<float>());
    EXPECT_THROW(at_once.prefill(slot, input), base::Error) << "a prefix comes first or not at all";
  }
}

class Requests : public testing::TestWithParam<int> {
 protected:
  std::shared_ptr<models::Transformer> model_ = tiny_model(nn::NormOrder::kPre);
  ParallelSearch search_{model_};
  std::vector<std::vector<int32_t>> sources_ = random_sources(20, 42);
  SearchOptions options_ = options_of(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Beams, Requests, testing::Values(1, 4));

// A prefix taken from the greedy translation forces nothing.
TEST_P(Requests, APrefixOfTheTranslationChangesNothingInGreedySearch) {
  if (GetParam() != 1) {
    GTEST_SKIP() << "a beam may keep what a prefix excludes";
  }
  const auto free = search_.run(sources_, options_);
  std::vector<SentenceRequest> requests(sources_.size());
  for (size_t i = 0; i < sources_.size(); ++i) {
    const Ids& ids = free[i].hypotheses[0].ids;
    requests[i].prefix.assign(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(ids.size() / 2));
  }
  const auto prefixed = search_.run(with_sources(sources_, requests), options_);
  for (size_t i = 0; i < sources_.size(); ++i) {
    expect_same(free[i].hypotheses, prefixed[i].hypotheses, i);
  }
}

TEST_P(Requests, TranslationsBeginWithTheirPrefixAndScoreAgrees) {
  std::vector<SentenceRequest> requests(sources_.size());
  for (size_t i = 0; i < sources_.size(); ++i) {
    requests[i].prefix = {static_cast<int32_t>(4 + i), 17, static_cast<int32_t>(30 - i)};
  }
  const auto outputs = search_.run(with_sources(sources_, requests), options_);
  std::vector<IdPair> pairs;
  std::vector<double> expected;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const Hypothesis& best = outputs[i].hypotheses.at(0);
    ASSERT_GE(best.ids.size(), 3U);
    EXPECT_EQ(Ids(best.ids.begin(), best.ids.begin() + 3), requests[i].prefix) << "sentence " << i;
    expect_same(search_.run(with_sources({&sources_[i], 1}, {&requests[i], 1}), options_).at(0).hypotheses,
                outputs[i].hypotheses, i);
    if (best.finish_reason == FinishReason::kEndOfSentence) {
      pairs.push_back({sources_[i], best.ids});
      expected.push_back(best.score);
      EXPECT_EQ(best.token_scores.size(), best.ids.size() + 1);
    }
  }
  ASSERT_GT(pairs.size(), 5U);
  const auto scores = score_ids(*model_, pairs, {});
  for (size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_NEAR(scores[i].log_prob, expected[i], 1e-4);
  }
}

TEST_P(Requests, APrefixLongerThanTheModelIsRefused) {
  std::vector<SentenceRequest> requests(1);
  requests[0].prefix.assign(80, 7);
  EXPECT_THAT(test_support::error_of([&] {
                search_.run(with_sources({sources_.data(), 1}, requests), options_);
              }),
              testing::HasSubstr("prefix: 80 pieces, the model takes 80 tokens"));
  requests[0].prefix.assign(79, 7);
  const auto cut = search_.run(with_sources({sources_.data(), 1}, requests), options_);
  EXPECT_LE(cut[0].hypotheses[0].token_scores.size(), 80U);
}

TEST_P(Requests, AlternativesAreTheLikeliestNextTokensEachContinued) {
  options_.alternatives = true;
  options_.n_best = 5;
  std::vector<SentenceRequest> requests(sources_.size());
  for (SentenceRequest& request : requests) {
    request.prefix = {8, 21};
  }
  const auto outputs = search_.run(with_sources(sources_, requests), options_);
  for (size_t i = 0; i < sources_.size(); ++i) {
    const auto& alternatives = outputs[i].hypotheses;
    ASSERT_EQ(alternatives.size(), 5U);
    for (size_t rank = 0; rank < 5; ++rank) {
      if (rank > 0) {
        EXPECT_LE(alternatives[rank].token_scores.at(2), alternatives[rank - 1].token_scores.at(2));
      }
      SearchOptions plain = options_;
      plain.alternatives = false;
      plain.n_best = 1;
      if (alternatives[rank].ids.size() > 2) {  // else it ends here
        SentenceRequest extended;
        extended.prefix = {8, 21, alternatives[rank].ids[2]};
        const auto alone = search_.run(with_sources({&sources_[i], 1}, {&extended, 1}), plain);
        EXPECT_EQ(alone[0].hypotheses[0].ids, alternatives[rank].ids) << "sentence " << i << " rank " << rank;
        EXPECT_NEAR(alone[0].hypotheses[0].score, alternatives[rank].score, 1e-5);
      }
    }
    expect_same(search_.run(with_sources({&sources_[i], 1}, {&requests[i], 1}), options_).at(0).hypotheses,
                alternatives, i);
  }
}

TEST_P(Requests, AStreamGivesEachTokenOnceInOrderAndChangesNothing) {
  const auto silent = search_.run(sources_, options_);
  std::vector<SentenceRequest> requests(sources_.size());
  std::vector<Ids> streamed(sources_.size());
  std::vector<int> calls(sources_.size(), 0);
  std::vector<char> ended(sources_.size(), 0);
  for (size_t i = 0; i < sources_.size(); ++i) {
    requests[i].on_ids = [&, i](std::span<const int32_t> new_ids, bool is_end) {
      EXPECT_FALSE(new_ids.empty() && !is_end);
      EXPECT_FALSE(ended[i]) << "sentence " << i;
      ended[i] = is_end;
      streamed[i].insert(streamed[i].end(), new_ids.begin(), new_ids.end());
      ++calls[i];
      return true;
    };
  }
  options_.execution.workers = 2;
  const auto outputs = search_.run(with_sources(sources_, requests), options_);
  int early = 0;
  for (size_t i = 0; i < sources_.size(); ++i) {
    EXPECT_EQ(streamed[i], outputs[i].hypotheses[0].ids) << "sentence " << i;
    EXPECT_TRUE(ended[i]) << "sentence " << i;
    expect_same(silent[i].hypotheses, outputs[i].hypotheses, i);
    early += calls[i] > 1 ? 1 : 0;
  }
  EXPECT_GT(early, GetParam() == 1 ? 5 : 1) << "something must come before the end";
}

TEST_P(Requests, CancellingOneLeavesTheOthersAsTheyAre) {
  const auto expected = search_.run(sources_, options_);
  std::vector<SentenceRequest> requests(sources_.size());
  std::stop_source before;
  before.request_stop();
  requests[3].cancel = before.get_token();
  requests[5].deadline = std::chrono::steady_clock::now();
  std::stop_source during;
  Ids streamed;
  requests[7].cancel = during.get_token();
  requests[7].on_ids = [&](std::span<const int32_t> new_ids, bool) {
    streamed.insert(streamed.end(), new_ids.begin(), new_ids.end());
    during.request_stop();
    return true;
  };
  requests[9].on_ids = [](std::span<const int32_t>, bool) { return false; };
  requests[11].deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  const auto outputs = search_.run(with_sources(sources_, requests), options_);
  for (size_t i = 0; i < sources_.size(); ++i) {
    const Hypothesis& best = outputs[i].hypotheses.at(0);
    if (i == 3 || i == 5) {
      EXPECT_EQ(best.finish_reason, i == 3 ? FinishReason::kCancelled : FinishReason::kDeadline);
      EXPECT_TRUE(best.ids.empty());
    } else if (i != 7 && i != 9) {
      expect_same(expected[i].hypotheses, outputs[i].hypotheses, i);
    } else if (expected[i].hypotheses[0].ids.size() > 2 && GetParam() == 1) {
      EXPECT_EQ(best.finish_reason, FinishReason::kCancelled) << "sentence " << i;
      EXPECT_EQ(best.ids.size(), 1U) << "what was there after the first step";
    }
  }
  EXPECT_EQ(streamed, outputs[7].hypotheses[0].ids);
}

TEST_P(Requests, ACallbackThatThrowsFailsTheCallAndDoesNotStick) {
  const auto expected = search_.run(sources_, options_);
  std::vector<SentenceRequest> requests(sources_.size());
  for (SentenceRequest& request : requests) {
    request.on_ids = [](std::span<const int32_t>, bool) -> bool { throw std::runtime_error("mine"); };
  }
  EXPECT_THROW(search_.run(with_sources(sources_, requests), options_), std::runtime_error);
  const auto again = search_.run(sources_, options_);
  expect_same(expected[2].hypotheses, again[2].hypotheses, 2);
}

// Phrases, rules and a stream on a real model, beside other sentences.
TEST(RequestsTogether, DoNotDependOnNeighbours) {
  const ParallelSearch search(tiny_model(nn::NormOrder::kPost));
  const auto sources = random_sources(16, 43);
  SearchOptions options = options_of(5);
  options.n_best = 2;
  options.rules.repetition_penalty = 1.3;
  options.rules.no_repeat_ngram = 3;
  options.ranking.coverage_penalty = 0.2;
  options.beam.patience = 2;
  std::vector<SentenceRequest> requests(sources.size());
  std::vector<Ids> phrases(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    requests[i].prefix = Ids(i % 3, 9);
    phrases[i] = {static_cast<int32_t>(10 + i), 44};
    requests[i].phrases = phrases_of(std::vector<Ids>(i % 4, phrases[i]));
  }
  const auto together = search.run(with_sources(sources, requests), options);
  options.execution.workers = 2;
  options.execution.batch_tokens = 20;
  const auto small = search.run(with_sources(sources, requests), options);
  for (size_t i = 0; i < sources.size(); ++i) {
    expect_same(together[i].hypotheses, small[i].hypotheses, i);
    expect_same(search.run(with_sources({&sources[i], 1}, {&requests[i], 1}), options).at(0).hypotheses,
                together[i].hypotheses, i);
    if (!requests[i].phrases.empty() && together[i].hypotheses[0].finish_reason != FinishReason::kPhrasesMissing) {
      EXPECT_FALSE(std::ranges::search(together[i].hypotheses[0].ids, phrases[i]).empty());
    }
  }
}

TEST(Ensemble, IsTheMeanOfProbabilities) {
  tensor::Tensor a = tensor::Tensor::empty({2, 3});
  tensor::Tensor b = tensor::Tensor::empty({2, 3});
  const std::vector<double> p = {0.5, 0.25, 0.25, 0.1, 0.1, 0.8};
  const std::vector<double> q = {0.1, 0.3, 0.6, 0.4, 0.4, 0.2};
  for (size_t i = 0; i < 6; ++i) {
    a.data<float>()[i] = static_cast<float>(std::log(p[i]) + 3.0);
    b.data<float>()[i] = static_cast<float>(std::log(q[i]) - 1.0);
  }
  std::vector<tensor::Tensor> members = {a, b};
  mean_probabilities(members);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(members[0].data<float>()[i], std::log((p[i] + q[i]) / 2), 1e-6) << "entry " << i;
  }
}

TEST(Ensemble, OfOneModelTwiceFindsWhatTheModelFinds) {
  const auto model = tiny_model(nn::NormOrder::kPre);
  const auto sources = random_sources(12, 44);
  const auto one = ParallelSearch(model).run(sources, options_of(4));
  const auto two = ParallelSearch(ParallelSearch::Models{model, model}).run(sources, options_of(4));
  for (size_t i = 0; i < sources.size(); ++i) {
    EXPECT_EQ(one[i].hypotheses[0].ids, two[i].hypotheses[0].ids) << "sentence " << i;
    EXPECT_NEAR(one[i].hypotheses[0].score, two[i].hypotheses[0].score, 1e-4) << "sentence " << i;
  }
}

TEST(Ensemble, ScoresAreTheLogOfTheMeanOfTheMembers) {
  const auto a = tiny_model(nn::NormOrder::kPre, 1);
  const auto b = tiny_model(nn::NormOrder::kPre, 2);
  const ParallelSearch search(ParallelSearch::Models{a, b});
  const auto sources = random_sources(10, 45);
  SearchOptions options = options_of(3);
  options.ranking.coverage_penalty = 0.1;
  std::vector<SentenceRequest> requests(sources.size());
  requests[1].prefix = {9, 12};
  const auto outputs = search.run(with_sources(sources, requests), options);
  for (size_t i = 0; i < sources.size(); ++i) {
    const Hypothesis& best = outputs[i].hypotheses[0];
    expect_same(search.run(with_sources({&sources[i], 1}, {&requests[i], 1}), options).at(0).hypotheses,
                outputs[i].hypotheses, i);
    const Ids empty;
    ModelSteps first(*a);
    ModelSteps second(*b);
    const std::span<const int32_t> source = sources[i];
    const int32_t slot = first.add({&source, 1}).at(0);
    second.add({&source, 1});
    Ids input = {data::kBosId};
    input.insert(input.end(), best.ids.begin(), best.ids.end());
    std::vector<tensor::Tensor> logits = {first.prefill(slot, input), second.prefill(slot, input)};
    mean_probabilities(logits);
    for (size_t t = 0; t < best.ids.size(); ++t) {
      const auto row = logits[0].rows(static_cast<int64_t>(t), static_cast<int64_t>(t) + 1).to_vector<float>();
      EXPECT_NEAR(best.token_scores[t], row[static_cast<size_t>(best.ids[t])], 1e-4) << "sentence " << i << " at " << t;
    }
  }
}

}  // namespace
}  // namespace dragoman::decoding
