// Searches with a real (tiny, random) Transformer: what may not change a result, and memory.
#include "decoding/parallel_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "decoding/search/beam_search.h"
#include "decoding/steps/alignment.h"
#include "decoding/steps/model_steps.h"
#include "tiny_model.h"

namespace dragoman::decoding {
namespace {

using Ids = std::vector<int32_t>;
using Sources = std::vector<std::vector<int32_t>>;

SearchOptions options_of(int beam_size, int workers = 1) {
  SearchOptions options;
  options.beam_size = beam_size;
  options.n_best = std::min(beam_size, 2);
  options.execution.workers = workers;
  options.length.max_length_extra = 20;
  return options;
}

void expect_same(const SearchResult& expected, const SearchResult& seen, size_t sentence) {
  ASSERT_EQ(expected.hypotheses.size(), seen.hypotheses.size()) << "sentence " << sentence;
  for (size_t rank = 0; rank < expected.hypotheses.size(); ++rank) {
    const Hypothesis& a = expected.hypotheses[rank];
    const Hypothesis& b = seen.hypotheses[rank];
    EXPECT_EQ(a.ids, b.ids) << "sentence " << sentence << " rank " << rank;
    EXPECT_EQ(a.score, b.score) << "sentence " << sentence << " rank " << rank << ", bit for bit";
    EXPECT_EQ(a.token_scores, b.token_scores) << "sentence " << sentence << " rank " << rank << ", bit for bit";
    EXPECT_EQ(a.finish_reason, b.finish_reason) << "sentence " << sentence << " rank " << rank;
  }
}

class ParallelSearchLaws : public testing::TestWithParam<std::tuple<nn::NormOrder, int>> {
 protected:
  std::shared_ptr<models::Transformer> model_ = tiny_model(std::get<0>(GetParam()));
  int beam_size_ = std::get<1>(GetParam());
};
INSTANTIATE_TEST_SUITE_P(OrdersAndBeams, ParallelSearchLaws,
                         testing::Combine(testing::Values(nn::NormOrder::kPost, nn::NormOrder::kPre),
                                          testing::Values(1, 4)));

TEST_P(ParallelSearchLaws, ASentenceAloneEqualsItInAnyBatch) {
  const ParallelSearch search(model_);
  const Sources sources = random_sources(40, 11);
  const auto together = search.run(sources, options_of(beam_size_));
  bool ended = false;
  bool differ = false;
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto alone = search.run({&sources[i], 1}, options_of(beam_size_));
    expect_same(alone.at(0), together[i], i);
    ended = ended || alone[0].hypotheses[0].finish_reason == FinishReason::kEndOfSentence;
    differ = differ || alone[0].hypotheses[0].ids != together[0].hypotheses[0].ids;
  }
  EXPECT_TRUE(ended) << "no translation ends by itself: the model is too dull to test anything";
  EXPECT_TRUE(differ) << "all translations are equal: the model is too dull to test anything";
}

// A rule that forbids nothing makes a search look at all logits; without it the likeliest are picked while they are
// computed.
TEST_P(ParallelSearchLaws, SearchesThatSeeAllLogitsFindTheSame) {
  for (const auto precision : {kernels::Precision::kFloat32, kernels::Precision::kInt8}) {
    model_->parameters().pack_weights(precision);
    const ParallelSearch search(model_);
    const Sources sources = random_sources(30, 13);
    SearchOptions options = options_of(beam_size_);
    options.length.min_length = 2;
    options.beam.patience = beam_size_ > 1 ? 1.5 : 1.0;
    const auto expected = search.run(sources, options);
    options.rules.no_repeat_ngram = 100;
    const auto seen = search.run(sources, options);
    for (size_t i = 0; i < sources.size(); ++i) {
      expect_same(expected[i], seen[i], i);
    }
  }
}

// The end is so large here that it is often the likeliest first piece.
TEST_P(ParallelSearchLaws, ATextHasATranslationUnlessAnEmptyOneIsAllowed) {
  for (float& value : model_->output().weight.variable.value().rows(data::kEosId, data::kEosId + 1).span<float>()) {
    value *= 10.0F;
  }
  model_->parameters().pack_weights();
  const ParallelSearch search(model_);
  const Sources sources = random_sources(30, 16);
  SearchOptions options = options_of(beam_size_);
  const auto seen = search.run(sources, options);
  options.length.min_length = 0;
  const auto may_be_empty = search.run(sources, options);
  const auto is_empty = [](const SearchResult& result) { return result.hypotheses.front().ids.empty(); };
  EXPECT_TRUE(std::ranges::none_of(seen, is_empty));
  EXPECT_TRUE(std::ranges::any_of(may_be_empty, is_empty)) << "the model is too dull to test anything";
}

TEST_P(ParallelSearchLaws, WorkersAndBatchSizesChangeNothing) {
  const ParallelSearch search(model_);
  const Sources sources = random_sources(30, 12);
  const auto expected = search.run(sources, options_of(beam_size_));
  for (const int64_t batch_tokens : {1, 7, 60, 5000}) {
    for (const int workers : {1, 2, 3}) {
      SearchOptions options = options_of(beam_size_, workers);
      options.execution.batch_tokens = batch_tokens;
      const auto seen = search.run(sources, options);
      for (size_t i = 0; i < sources.size(); ++i) {
        expect_same(expected[i], seen[i], i);
      }
    }
  }
}

// The vocabulary is large enough for greedy search to leave out most of the product in float32.
TEST_P(ParallelSearchLaws, WithoutScoresThePiecesStay) {
  const auto model = tiny_model(std::get<0>(GetParam()), 3, 2000);
  for (const auto precision : {kernels::Precision::kFloat32, kernels::Precision::kInt8}) {
    model->parameters().pack_weights(precision);
    const ParallelSearch search(model);
    const Sources sources = random_sources(30, 15);
    SearchOptions options = options_of(beam_size_);
    const auto expected = search.run(sources, options);
    options.output.scores = false;
    const auto seen = search.run(sources, options);
    for (size_t i = 0; i < sources.size(); ++i) {
      if (beam_size_ > 1) {
        expect_same(expected[i], seen[i], i);
        continue;
      }
      EXPECT_EQ(expected[i].hypotheses[0].ids, seen[i].hypotheses[0].ids) << "sentence " << i;
      EXPECT_EQ(expected[i].hypotheses[0].finish_reason, seen[i].hypotheses[0].finish_reason) << "sentence " << i;
      EXPECT_THAT(seen[i].hypotheses[0].token_scores, testing::Each(0.0F)) << "sentence " << i;
      EXPECT_EQ(seen[i].hypotheses[0].token_scores.size(), expected[i].hypotheses[0].token_scores.size());
      EXPECT_EQ(seen[i].hypotheses[0].score, 0.0) << "sentence " << i;
    }
  }
}

// A vocabulary large enough for its product to be shared out.
TEST_P(ParallelSearchLaws, ThreadsThatHelpAWorkerChangeNothing) {
  constexpr uint64_t kVocabSize = 20'000;
  const auto model = tiny_model(std::get<0>(GetParam()), 3, kVocabSize);
  for (const auto precision : {kernels::Precision::kFloat32, kernels::Precision::kInt8}) {
    model->parameters().pack_weights(precision);
    const ParallelSearch search(model);
    const Sources sources = random_sources(6, 14, 12, kVocabSize);
    const auto expected = search.run(sources, options_of(beam_size_));
    SearchOptions helped = options_of(beam_size_, 2);
    helped.execution.threads_per_worker = 3;
    const auto seen = search.run(sources, helped);
    for (size_t i = 0; i < sources.size(); ++i) {
      expect_same(expected[i], seen[i], i);
      const auto alone = search.run({&sources[i], 1}, options_of(beam_size_, 4));  // three workers have nothing to do
      expect_same(expected[i], alone.at(0), i);
    }
  }
}

TEST_P(ParallelSearchLaws, WarmRunsAskTheSystemForNothing) {
  const ParallelSearch search(model_);
  const Sources sources = random_sources(30, 13, 40);
  search.run(sources, options_of(beam_size_));
  const auto warm = search.models().arena_counters();
  search.run(sources, options_of(beam_size_));
  const auto later = search.models().arena_counters();
  EXPECT_GT(warm.system_requests, 0U);
  EXPECT_EQ(later.system_requests, warm.system_requests);
  EXPECT_EQ(later.system_bytes, warm.system_bytes);
  EXPECT_EQ(later.live_bytes, warm.live_bytes) << "nothing stays behind but the cache";
}

TEST(ParallelSearch, BeamOfOneIsGreedy) {
  const auto model = tiny_model(nn::NormOrder::kPost);
  const Sources sources = random_sources(20, 14);
  const SearchOptions options = options_of(1);
  const auto greedy = ParallelSearch(model).run(sources, options);
  for (size_t i = 0; i < sources.size(); ++i) {
    ModelSteps steps(*model);
    const std::span<const int32_t> source = sources[i];
    const int32_t slot = steps.add({&source, 1}).at(0);
    BeamSearch search(options, {0, options.length.longest(static_cast<int64_t>(source.size()), 80)});
    std::vector<StepRow> rows;
    while (!search.done()) {
      rows.clear();
      search.append_rows(slot, rows);
      tensor::Tensor logits = steps.step(rows);
      search.advance(logits.span<float>());
    }
    expect_same({.hypotheses = search.take_hypotheses()}, greedy[i], i);
  }
}

TEST(ParallelSearch, NoSentencesGiveNoResults) {
  EXPECT_TRUE(ParallelSearch(tiny_model(nn::NormOrder::kPost)).run(Sources(), options_of(4)).empty());
}

TEST(ParallelSearch, AlignmentRowsAreDistributions) {
  const auto model = tiny_model(nn::NormOrder::kPre);
  SearchOptions options = options_of(4);
  options.output.alignment = true;
  const Sources sources = random_sources(8, 15);
  const auto outputs = ParallelSearch(model).run(sources, options);
  for (size_t i = 0; i < sources.size(); ++i) {
    for (size_t rank = 0; rank < outputs[i].hypotheses.size(); ++rank) {
      const Alignment& alignment = outputs[i].hypotheses[rank].alignment;
      const size_t n_source = sources[i].size();
      ASSERT_EQ(alignment.weights.size(), outputs[i].hypotheses[rank].ids.size() * n_source);
      ASSERT_EQ(alignment.source_of_target.size(), outputs[i].hypotheses[rank].ids.size());
      for (size_t t = 0; t < alignment.source_of_target.size(); ++t) {
        const std::span<const float> row = std::span(alignment.weights).subspan(t * n_source, n_source);
        EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1.0, 1e-5);
        const auto hard = static_cast<size_t>(alignment.source_of_target[t]);
        EXPECT_LT(hard, std::max<size_t>(n_source - 1, 1)) << "the end is no word to align to";
        EXPECT_EQ(
            row[hard],
            *std::max_element(row.begin(), row.begin() + std::max<ptrdiff_t>(static_cast<ptrdiff_t>(n_source) - 1, 1)));
      }
    }
  }
}

// What each kind of search is asked for.
std::vector<SearchOptions> one_of_each_kind() {
  std::vector<SearchOptions> kinds(5, options_of(4));
  kinds[0].beam_size = 1;  // greedy
  kinds[0].n_best = 1;
  kinds[2].beam.patience = 1.5;
  kinds[2].ranking.coverage_penalty = 0.2;
  kinds[3].sampling.temperature = 1.0;
  kinds[4].alternatives = true;
  for (SearchOptions& options : kinds) {
    options.output.alignment = true;
  }
  return kinds;
}

void expect_alignments_of_the_teacher_forced_model(const SearchOptions& options) {
  const auto model = tiny_model(nn::NormOrder::kPre);
  const ParallelSearch search(model);
  const Sources sources = random_sources(12, 17);
  std::vector<SentenceRequest> requests(sources.size());
  requests[2].prefix = {9, 5, 30};
  requests[3].prefix = {7};
  const auto outputs = search.run(with_sources(sources, requests), options);
  for (size_t i = 0; i < sources.size(); ++i) {
    for (const Hypothesis& hypothesis : outputs[i].hypotheses) {
      const Alignment expected = align(*model, sources[i], hypothesis.ids, options.output.alignment_layer);
      ASSERT_EQ(hypothesis.alignment.target_length, expected.target_length);
      ASSERT_EQ(hypothesis.alignment.source_length, expected.source_length);
      EXPECT_THAT(hypothesis.alignment.weights, testing::Pointwise(testing::FloatNear(1e-5F), expected.weights));
      EXPECT_EQ(hypothesis.alignment.source_of_target, expected.source_of_target);
    }
    const auto alone = search.run(with_sources({&sources[i], 1}, {&requests[i], 1}), options).at(0);
    EXPECT_EQ(alone.hypotheses[0].alignment.weights, outputs[i].hypotheses[0].alignment.weights)
        << "the same bits in any batch";
  }
}

TEST(ParallelSearch, AlignmentsOfTheStepsAreThoseOfTheTeacherForcedModel) {
  for (SearchOptions options : one_of_each_kind()) {
    for (const int layer : {0, 1, kLastLayer}) {
      options.output.alignment_layer = layer;
      expect_alignments_of_the_teacher_forced_model(options);
    }
  }
}

TEST(ParallelSearch, WhatStepsDoNotShowIsAlignedAfterwards) {
  const auto model = tiny_model(nn::NormOrder::kPre);
  SearchOptions options = options_of(4);
  options.output.alignment = true;
  const Ids source = {9, 12, 5, data::kEosId};
  std::vector<Hypothesis> hypotheses(2);
  hypotheses[0].ids = {7, 8};
  hypotheses[1].alignment.source_length = 4;
  SearchModels({model}).add_alignments(source, options, hypotheses);
  EXPECT_EQ(hypotheses[0].alignment.weights, align(*model, source, hypotheses[0].ids, -1).weights);
  EXPECT_TRUE(hypotheses[1].alignment.weights.empty()) << "it has one already";
}

TEST(ParallelSearch, AnErrorIsReportedInTheResultOfItsOwnSentence) {
  const ParallelSearch search(tiny_model(nn::NormOrder::kPost));
  const Sources sources = random_sources(20, 19);
  const auto expected = search.run(sources, options_of(4, 2));
  std::vector<SentenceRequest> requests = with_sources(sources, std::vector<SentenceRequest>(sources.size()));
  requests[3].source = {4, 9999, data::kEosId};                                       // the encoder refuses it
  requests[5].prefix.assign(80, 7);                                                   // too long
  requests[7].on_ids = [](auto, bool) -> bool { throw std::runtime_error("mine"); };  // its callback throws
  const auto seen = search.run(requests, options_of(4, 2), OnError::kReport);
  for (size_t i = 0; i < sources.size(); ++i) {
    EXPECT_EQ(seen[i].error != nullptr, i == 3 || i == 5 || i == 7) << "sentence " << i;
    if (seen[i].error == nullptr) {
      expect_same(expected[i], seen[i], i);
    }
  }
}

TEST(ParallelSearch, FailuresInWorkersReachTheCallerAndDoNotStick) {
  const auto model = tiny_model(nn::NormOrder::kPost);
  const ParallelSearch search(model);
  Sources sources = random_sources(20, 16);
  const auto expected = search.run(sources, options_of(4, 2));
  Sources broken = sources;
  broken[7] = {4, 9999, data::kEosId};
  EXPECT_THROW(search.run(broken, options_of(4, 2)), base::Error);
  const auto seen = search.run(sources, options_of(4, 2));
  for (size_t i = 0; i < sources.size(); ++i) {
    expect_same(expected[i], seen[i], i);
  }
}

TEST(ParallelSearch, WrongOptionsAreRefused) {
  const ParallelSearch search(tiny_model(nn::NormOrder::kPost));
  SearchOptions options = options_of(4);
  options.output.alignment = true;
  options.output.alignment_layer = 2;
  EXPECT_THROW(search.run(Sources(), options), base::Error);
  options = options_of(0);
  EXPECT_THROW(search.run(Sources(), options), base::Error);
}

}  // namespace
}  // namespace dragoman::decoding
