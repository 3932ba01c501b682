// Patience and coverage: laws over random tables, and the formulas by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "decoding/parallel_search.h"
#include "decoding/search/coverage.h"
#include "table_model.h"
#include "tiny_model.h"

namespace dragoman::decoding {
namespace {

constexpr int32_t kVocab = 12;

Table random_table(uint64_t seed, const Ids& history) {
  return drawn_table(seed, history, data::kEosId, kVocab,
                     [](int32_t, double uniform) { return std::exp(3.0 * uniform); });
}

// Shows random attention, a function of the history.
class LookingTable : public TableModel {
 public:
  LookingTable(uint64_t seed, int64_t source_length)
      : TableModel(kVocab, [seed](int32_t, const Ids& history) { return random_table(seed, history); }),
        seed_(seed),
        source_length_(source_length) {}

  tensor::Tensor step(std::span<const StepRow> rows) override {
    weights_ = tensor::Tensor::empty({static_cast<int64_t>(rows.size()), source_length_});
    for (size_t row = 0; row < rows.size(); ++row) {
      base::Random random(seed_, static_cast<uint64_t>(rows[row].token_id));
      for (int64_t i = 0; i < source_length_; ++i) {
        weights_.data<float>()[static_cast<int64_t>(row) * source_length_ + i] =
            static_cast<float>(random.uniform()) / static_cast<float>(source_length_);
      }
    }
    return TableModel::step(rows);
  }
  tensor::Tensor attention(int) const override { return weights_; }

 private:
  uint64_t seed_;
  int64_t source_length_;
  tensor::Tensor weights_;
};

std::vector<Hypothesis> search_with(StepModel& model, const SearchOptions& options, const SearchLimits& limits,
                                    int64_t source_length) {
  SentenceRequest request;
  request.source.resize(static_cast<size_t>(source_length));
  return search_one(model, options, limits, request);
}

TEST(BeamOptions, EarlyStopIsSafeWithPatienceCoverageAndRepetitionPenalty) {
  int with = 0;
  int without = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    LookingTable model(seed, 4);
    SearchOptions options;
    options.beam_size = 4;
    options.ranking.alpha = 0.25 * static_cast<double>(seed % 8) - 0.75;
    options.ranking.length_penalty = seed % 2 == 0 ? LengthPenalty::kGnmt : LengthPenalty::kLength;
    options.n_best = 1 + static_cast<int>(seed % 2);
    options.beam.patience = std::array{1.0, 2.0, 0.5}[seed % 3];
    options.ranking.coverage_penalty = seed % 4 == 0 ? 0.0 : 0.3;
    options.rules.repetition_penalty = seed % 5 == 0 ? 1.5 : 1.0;
    const auto early = search_with(model, options, {0, 12}, 4);
    with += std::exchange(model.steps, 0);
    options.beam.early_stop = false;
    const auto late = search_with(model, options, {0, 12}, 4);
    without += model.steps;
    ASSERT_EQ(early.size(), late.size()) << "seed " << seed;
    for (size_t rank = 0; rank < early.size(); ++rank) {
      EXPECT_EQ(early[rank].ids, late[rank].ids) << "seed " << seed << " rank " << rank;
      EXPECT_EQ(early[rank].normalised_score, late[rank].normalised_score) << "seed " << seed << " rank " << rank;
    }
  }
  EXPECT_LT(with, without) << "steps with early stop, and without";
}

TEST(BeamOptions, MorePatienceWaitsForMoreAndFindsNoWorseOnAverage) {
  int steps_before = 0;
  std::vector<double> best_before(60, -INFINITY);
  for (const double patience : {0.25, 1.0, 2.0, 4.0}) {
    int steps = 0;
    double gained = 0.0;
    for (uint64_t seed = 0; seed < best_before.size(); ++seed) {
      TableModel model(kVocab, [seed](int32_t, const Ids& history) { return random_table(seed, history); });
      SearchOptions options;
      options.beam_size = 4;
      options.beam.early_stop = false;
      options.beam.patience = patience;
      const double best = search_one(model, options, {0, 12}).at(0).normalised_score;
      gained += best_before[seed] == -INFINITY ? 0.0 : best - best_before[seed];
      best_before[seed] = best;
      steps += model.steps;
    }
    EXPECT_GE(steps, steps_before) << "patience " << patience;
    EXPECT_GE(gained, 0.0) << "patience " << patience << ": the mean of the best scores";
    steps_before = steps;
  }
}

TEST(BeamOptions, PatienceFillsThePlacesOfThoseThatEnd) {
  // Four sentences that end at their second token; a beam of two.
  TableModel model(8, [](int32_t, const Ids& history) -> Table {
    return history.empty() ? Table{{4, 0.3}, {5, 0.28}, {6, 0.22}, {7, 0.2}} : Table{{data::kEosId, 0.6}, {4, 0.4}};
  });
  SearchOptions options;
  options.beam_size = 2;
  options.n_best = 2;
  options.beam.patience = 2.0;
  options.beam.early_stop = false;
  const auto best = search_one(model, options, {0, 4});
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].ids, Ids{4});
  EXPECT_EQ(best[1].ids, Ids{5});
}

TEST(Coverage, IsTheFormula) {
  CoverageTable table(0.5, 4);  // three pieces and the end
  const std::vector<float> weights = {0.5F, 0.25F, 0.25F, 0.0F, /**/ 1.0F, 0.0F, 0.0F, 0.0F};
  table.add(1, weights.data(), 4);
  EXPECT_NEAR(table.penalty(0), 0.5 * std::log(0.5 * 0.25 * 0.25), 1e-9);
  table.inherit(0);
  table.inherit(0);
  table.turn();
  table.add(2, weights.data(), 4);
  EXPECT_NEAR(table.penalty(0), 0.5 * std::log(1.0 * 0.5 * 0.5), 1e-9);
  EXPECT_NEAR(table.penalty(1), 0.5 * std::log(1.0 * 0.25 * 0.25), 1e-9) << "no more than 1 counts";
  CoverageTable unseen(1.0, 2);
  EXPECT_NEAR(unseen.penalty(0), std::log(1e-10), 1e-9);
  EXPECT_EQ(CoverageTable(1.0, 1).penalty(0), 0.0) << "a source of its end alone has nothing to cover";
  EXPECT_EQ(CoverageTable(0.0, 9).penalty(0), 0.0);
}

TEST(Coverage, IsAddedToTheNormalisedScoreAsTheAlignmentSeesIt) {
  const auto model = tiny_model(nn::NormOrder::kPre);
  const auto sources = random_sources(12, 31);
  SearchOptions options;
  options.beam_size = 3;
  options.n_best = 3;
  options.output.alignment = true;
  options.length.max_length_ratio = 0.0;
  options.length.max_length_extra = 4;  // so that most are cut
  options.ranking.coverage_penalty = 0.4;
  const auto outputs = ParallelSearch(model).run(sources, options);
  size_t checked = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    for (size_t rank = 0; rank < outputs[i].hypotheses.size(); ++rank) {
      const Hypothesis& hypothesis = outputs[i].hypotheses[rank];
      if (hypothesis.finish_reason != FinishReason::kLengthLimit || sources[i].size() < 2) {
        continue;  // alignments have no row for the end
      }
      const Alignment& alignment = outputs[i].hypotheses[rank].alignment;
      CoverageTable table(0.4, alignment.source_length);
      for (int64_t t = 0; t < alignment.target_length; ++t) {
        table.add(1, alignment.weights.data() + t * alignment.source_length, 0);
      }
      const double penalty = length_penalty(options.ranking, alignment.target_length);
      EXPECT_NEAR(hypothesis.normalised_score, hypothesis.score / penalty + table.penalty(0), 1e-4) << "sentence " << i;
      ++checked;
    }
  }
  EXPECT_GT(checked, 3U) << "too few were cut to test anything";
}

TEST(Coverage, BatchesChangeNothing) {
  const ParallelSearch search(tiny_model(nn::NormOrder::kPost));
  const auto sources = random_sources(20, 32);
  SearchOptions options;
  options.ranking.coverage_penalty = 0.4;
  options.beam.patience = 1.5;
  options.length.max_length_extra = 15;
  const auto together = search.run(sources, options);
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto alone = search.run({&sources[i], 1}, options);
    EXPECT_EQ(alone[0].hypotheses[0].ids, together[i].hypotheses[0].ids) << "sentence " << i;
    EXPECT_EQ(alone[0].hypotheses[0].normalised_score, together[i].hypotheses[0].normalised_score) << "sentence " << i;
  }
}

}  // namespace
}  // namespace dragoman::decoding
