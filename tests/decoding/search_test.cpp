// Beam and greedy search over probability tables written by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "decoding/search/beam_search.h"
#include "table_model.h"

namespace dragoman::decoding {
namespace {

SearchOptions beam(int size, double alpha = 0.0) {
  SearchOptions options;
  options.beam_size = size;
  options.ranking.alpha = alpha;
  return options;
}

// a is likelier than b, but all that follows a is unlikely: greedy falls for it.
Table garden_path(int32_t, const Ids& history) {
  if (history.empty()) {
    return {{kA, 0.6}, {kB, 0.4}};
  }
  if (history.size() == 1) {
    return history[0] == kA ? Table{{kA, 0.35}, {kB, 0.33}, {kC, 0.32}} : Table{{kC, 0.9}, {kA, 0.1}};
  }
  return {{kEnd, 1.0}};
}

// Any table: probabilities drawn from (seed, history). The end grows likelier with length.
Table random_table(uint64_t seed, int32_t vocab_size, const Ids& history) {
  return drawn_table(seed, history, 0, vocab_size, [&](int32_t id, double uniform) {
    return std::exp(3.0 * uniform) * (id == kEnd ? 1.0 + static_cast<double>(history.size()) : 1);
  });
}

void expect_same(const std::vector<Hypothesis>& expected, const std::vector<Hypothesis>& seen, uint64_t seed) {
  ASSERT_EQ(expected.size(), seen.size()) << "seed " << seed;
  for (size_t rank = 0; rank < expected.size(); ++rank) {
    EXPECT_EQ(expected[rank].ids, seen[rank].ids) << "seed " << seed << " rank " << rank;
    EXPECT_EQ(expected[rank].score, seen[rank].score) << "seed " << seed << " rank " << rank;
    EXPECT_EQ(expected[rank].token_scores, seen[rank].token_scores) << "seed " << seed << " rank " << rank;
    EXPECT_EQ(expected[rank].normalised_score, seen[rank].normalised_score) << "seed " << seed << " rank " << rank;
    EXPECT_EQ(expected[rank].finish_reason, seen[rank].finish_reason) << "seed " << seed << " rank " << rank;
  }
}

TEST(Search, BeamFindsTheBestWhereGreedyFails) {
  TableModel model(kSmallVocab, garden_path);
  const auto greedy = search_one(model, beam(1), {0, 10});
  EXPECT_EQ(greedy.at(0).ids, (Ids{kA, kA}));
  EXPECT_NEAR(greedy.at(0).score, std::log(0.6 * 0.35), 1e-6);
  const auto best = search_one(model, beam(2), {0, 10});
  EXPECT_EQ(best.at(0).ids, (Ids{kB, kC}));
  EXPECT_NEAR(best.at(0).score, std::log(0.4 * 0.9), 1e-6);
  EXPECT_EQ(best.at(0).finish_reason, FinishReason::kEndOfSentence);
  ASSERT_EQ(best.at(0).token_scores.size(), 3U) << "two pieces and the end";
  EXPECT_NEAR(best.at(0).token_scores[1], std::log(0.9), 1e-6);
}

TEST(Search, LengthPenaltyByFormulaTurnsTheChoice) {
  // "a" ends at once with 0.5; "b c" needs three tokens and reaches 0.475.
  TableModel model(kSmallVocab, [](int32_t, const Ids& history) -> Table {
    if (history.empty()) {
      return {{kA, 0.5}, {kB, 0.5}};
    }
    if (history == Ids{kB}) {
      return {{kC, 0.95}, {kEnd, 0.05}};
    }
    return {{kEnd, 1.0}};
  });
  const auto plain = search_one(model, beam(3, 0.0), {0, 10});
  EXPECT_EQ(plain.at(0).ids, Ids{kA});
  EXPECT_EQ(plain.at(0).normalised_score, plain.at(0).score);
  for (const LengthPenalty kind : {LengthPenalty::kGnmt, LengthPenalty::kLength}) {
    SearchOptions options = beam(3, 1.0);
    options.ranking.length_penalty = kind;
    const auto longer = search_one(model, options, {0, 10});
    EXPECT_EQ(longer.at(0).ids, (Ids{kB, kC})) << name_of(kind);
    const double divisor = kind == LengthPenalty::kGnmt ? 8.0 / 6.0 : 3.0;
    EXPECT_NEAR(longer.at(0).normalised_score, std::log(0.475) / divisor, 1e-6) << name_of(kind);
  }
}

TEST(Search, MinimumLengthDelaysTheEnd) {
  TableModel model(kSmallVocab, [](int32_t, const Ids&) -> Table { return {{kEnd, 0.9}, {kA, 0.1}}; });
  for (const int size : {1, 3}) {
    EXPECT_EQ(search_one(model, beam(size), {0, 10}).at(0).ids, Ids{}) << "beam " << size;
    const auto longer = search_one(model, beam(size), {3, 10}).at(0);
    EXPECT_EQ(longer.ids, (Ids{kA, kA, kA})) << "beam " << size;
    EXPECT_NEAR(longer.score, 3 * std::log(0.1) + std::log(0.9), 1e-5) << "probabilities are not renormalised";
  }
}

TEST(Search, LongestLengthCutsAndSaysSo) {
  TableModel model(kSmallVocab, [](int32_t, const Ids&) -> Table { return {{kA, 0.9}, {kEnd, 0.0625}, {kB, 0.0375}}; });
  for (const int size : {1, 2}) {
    const auto cut = search_one(model, beam(size), {0, 4}).at(0);
    EXPECT_EQ(cut.ids, (Ids{kA, kA, kA, kA})) << "beam " << size;
    EXPECT_EQ(cut.finish_reason, FinishReason::kLengthLimit) << "beam " << size;
    EXPECT_EQ(cut.token_scores.size(), 4U) << "beam " << size;
  }
}

TEST(Search, TheEndMayComeAsTheLastTokenAllowed) {
  TableModel model(kSmallVocab, [](int32_t, const Ids& history) -> Table {
    return history.empty() ? Table{{kA, 1.0}} : Table{{kEnd, 1.0}};
  });
  for (const int size : {1, 2}) {
    EXPECT_EQ(search_one(model, beam(size), {0, 2}).at(0).finish_reason, FinishReason::kEndOfSentence);
  }
}

// The rule of `generate` of transformers 5 with early_stopping false, written plainly.
struct Sum {
  Ids ids;
  double score = 0.0;
};

std::vector<Sum> full_search(const std::function<Table(const Ids&)>& next, size_t size, double alpha, int64_t longest) {
  std::vector<Sum> live = {{}}, finished;
  const auto keep_best = [&] {
    std::ranges::stable_sort(finished, std::greater<>(), &Sum::score);
    finished.resize(std::min(finished.size(), size));
  };
  const auto by_length = [&](double sum, int64_t length) { return sum / std::pow(static_cast<double>(length), alpha); };
  for (int64_t length = 1; length <= longest; ++length) {
    std::vector<Sum> all;
    for (const Sum& sum : live) {
      for (const auto& [id, probability] : next(sum.ids)) {
        all.push_back(sum);
        all.back().ids.push_back(id);
        all.back().score += std::min(0.0, static_cast<double>(static_cast<float>(std::log(probability))));
      }
    }
    std::ranges::stable_sort(all, std::greater<>(), &Sum::score);
    all.resize(std::min(all.size(), 2 * size));
    live.clear();
    for (size_t rank = 0; rank < all.size(); ++rank) {
      if (all[rank].ids.back() != kEnd && live.size() < size) {
        live.push_back(all[rank]);
      } else if (all[rank].ids.back() == kEnd && rank < size) {
        finished.push_back({all[rank].ids, by_length(all[rank].score, length)});
      }
    }
    keep_best();
    if (finished.size() == size && by_length(live.front().score, length) <= finished.back().score) {
      return finished;
    }
  }
  for (const Sum& sum : live) {  // their end is free
    finished.push_back({sum.ids, by_length(sum.score, longest + 1)});
  }
  keep_best();
  return finished;
}

TEST(Search, TheFullBeamIsThatOfAPlainSearch) {
  size_t differ = 0, cut = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const int size = 2 + static_cast<int>(seed % 4);
    const double alpha = 0.25 * static_cast<double>(seed % 7);
    const int64_t longest = 2 + static_cast<int64_t>(seed % 9);
    const auto next = [&](const Ids& history) {  // nothing that is forbidden
      return drawn_table(seed, history, kEnd, 40, [&](int32_t id, double uniform) {
        return std::exp(4.0 * uniform) * (id == kEnd ? 3.0 * static_cast<double>(history.size()) : 1.0) + 1e-9;
      });
    };
    const std::vector<Sum> expected = full_search(next, static_cast<size_t>(size), alpha, longest);
    TableModel model(40, [&](int32_t, const Ids& history) { return next(history); });
    SearchOptions options = beam(size, alpha);
    options.ranking.length_penalty = LengthPenalty::kLength;
    options.beam.rule = BeamRule::kFull;
    options.n_best = size;
    const auto shrinking_rule = [&] {
      SearchOptions other = options;
      other.beam.rule = BeamRule::kShrinking;
      return search_one(model, other, {0, longest});
    }();
    for (const bool early_stop : {true, false}) {
      options.beam.early_stop = early_stop;
      const auto seen = search_one(model, options, {0, longest});
      ASSERT_EQ(seen.size(), expected.size()) << "seed " << seed;
      for (size_t rank = 0; rank < seen.size(); ++rank) {
        Ids ids = expected[rank].ids;
        std::erase(ids, kEnd);
        EXPECT_EQ(seen[rank].ids, ids) << "seed " << seed << " rank " << rank;
        EXPECT_NEAR(seen[rank].normalised_score, expected[rank].score, 1e-4) << "seed " << seed << " rank " << rank;
        cut += seen[rank].finish_reason == FinishReason::kLengthLimit ? 1 : 0;
      }
      differ += seen[0].ids != shrinking_rule[0].ids ? 1 : 0;
    }
  }
  EXPECT_GT(differ, 5U) << "the other rule always finds the same: nothing is tested";
  EXPECT_GT(cut, 20U) << "nothing reaches the longest length: nothing is tested";
}

TEST(Search, NothingAllowedCutsInsteadOfCrashing) {
  TableModel model(kSmallVocab, [](int32_t, const Ids&) -> Table { return {{data::kUnkId, 1.0}}; });
  for (const int size : {1, 4}) {
    const auto cut = search_one(model, beam(size), {0, 5}).at(0);
    EXPECT_EQ(cut.ids, Ids{});
    EXPECT_EQ(cut.finish_reason, FinishReason::kLengthLimit);
  }
}

TEST(Search, NBestIsSortedAndComplete) {
  // Four complete sentences with known probabilities.
  TableModel model(kSmallVocab, [](int32_t, const Ids& history) -> Table {
    return history.empty() ? Table{{kA, 0.2}, {kB, 0.5}, {kC, 0.25}, {kEnd, 0.05}} : Table{{kEnd, 1.0}};
  });
  SearchOptions options = beam(4);
  options.n_best = 3;
  const auto best = search_one(model, options, {0, 10});
  ASSERT_EQ(best.size(), 3U);
  EXPECT_EQ(best[0].ids, Ids{kB});
  EXPECT_EQ(best[1].ids, Ids{kC});
  EXPECT_EQ(best[2].ids, Ids{kA});
}

TEST(Search, TiesGoToTheLowerParentThenTheLowerToken) {
  TableModel model(kSmallVocab, [](int32_t, const Ids& history) -> Table {
    return history.size() < 2 ? Table{{kA, 0.25}, {kB, 0.25}, {kC, 0.25}, {kEnd, 0.25}} : Table{{kEnd, 1.0}};
  });
  EXPECT_EQ(search_one(model, beam(1), {2, 10}).at(0).ids, (Ids{kA, kA}));
  SearchOptions options = beam(4);
  options.n_best = 4;
  const auto best = search_one(model, options, {2, 10});
  ASSERT_EQ(best.size(), 4U);
  EXPECT_EQ(best[0].ids, (Ids{kA, kA}));
  EXPECT_EQ(best[1].ids, (Ids{kA, kB}));
  EXPECT_EQ(best[2].ids, (Ids{kA, kC}));
  EXPECT_EQ(best[3].ids, (Ids{kB, kA}));
}

TEST(Search, SpecialTokensAreNeverGenerated) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    TableModel model(kSmallVocab,
                     [&](int32_t, const Ids& history) { return random_table(seed, kSmallVocab, history); });
    for (const int size : {1, 3}) {
      for (const Hypothesis& hypothesis : search_one(model, beam(size, 0.6), {0, 12})) {
        EXPECT_THAT(hypothesis.ids, testing::Each(testing::Gt(kEnd))) << "seed " << seed;
      }
    }
  }
}

TEST(Search, BeamOfOneIsGreedy) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    TableModel model(kSmallVocab,
                     [&](int32_t, const Ids& history) { return random_table(seed, kSmallVocab, history); });
    const SearchOptions options = beam(1, 0.6);
    const SearchLimits limits{static_cast<int64_t>(seed % 4), 12};
    BeamSearch search(options, limits);
    std::vector<StepRow> rows;
    while (!search.done()) {
      rows.clear();
      search.append_rows(0, rows);
      tensor::Tensor logits = model.step(rows);
      search.advance(logits.span<float>());
    }
    model.remove(0);
    expect_same(search_one(model, options, limits), search.take_hypotheses(), seed);
  }
}

TEST(Search, EarlyStopChangesNothingAndSavesSteps) {
  int with = 0;
  int without = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    TableModel model(12, [&](int32_t, const Ids& history) { return random_table(seed, 12, history); });
    SearchOptions options = beam(5, 0.2 * static_cast<double>(seed % 6));
    options.ranking.length_penalty = seed % 2 == 0 ? LengthPenalty::kGnmt : LengthPenalty::kLength;
    options.n_best = 1 + static_cast<int>(seed % 3);
    const auto early = search_one(model, options, {0, 15});
    with += std::exchange(model.steps, 0);
    options.beam.early_stop = false;
    expect_same(search_one(model, options, {0, 15}), early, seed);
    without += model.steps;
  }
  EXPECT_LT(with, without) << "steps with early stop, and without";
}

// With a beam as wide as there are sentences, beam search is exhaustive: compare with trying them all.
TEST(Search, WideBeamEqualsExhaustiveSearch) {
  constexpr int64_t kLongest = 3;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto next = [&](int32_t, const Ids& history) { return random_table(seed, kSmallVocab, history); };
    double best_score = -INFINITY;
    Ids best_ids;
    const std::function<void(const Ids&, double)> visit = [&](const Ids& history, double score) {
      const Table table = next(0, history);
      const auto length = static_cast<int64_t>(history.size());
      const auto offer = [&](const Ids& ids, double sum) {
        const double normalised = sum / length_penalty({.alpha = 0.6}, length + 1);
        if (normalised > best_score) {
          best_score = normalised;
          best_ids = ids;
        }
      };
      offer(history, score + std::log(table.at(kEnd)));
      for (const int32_t id : {kA, kB, kC}) {
        Ids longer = history;
        longer.push_back(id);
        const double sum = score + std::log(table.at(id));
        length + 1 == kLongest ? offer(longer, sum) : visit(longer, sum);
      }
    };
    visit({}, 0.0);
    TableModel model(kSmallVocab, next);
    const auto found = search_one(model, beam(64, 0.6), {0, kLongest});
    EXPECT_EQ(found.at(0).ids, best_ids) << "seed " << seed;
    EXPECT_NEAR(found.at(0).normalised_score, best_score, 1e-5) << "seed " << seed;
  }
}

TEST(Search, SentencesSearchedTogetherDoNotKnowEachOther) {
  constexpr int kSentences = 12;
  const auto next = [](int32_t slot, const Ids& history) {
    return random_table(static_cast<uint64_t>(slot), 20, history);
  };
  SearchOptions options = beam(4, 0.6);
  options.n_best = 2;
  TableModel together(20, next);
  SearchLoop loop(together);
  std::vector<SearchResult> results;
  for (int32_t slot = 0; slot < kSentences; ++slot) {
    loop.add(static_cast<size_t>(slot), slot, {0, 5 + slot}, options);
    loop.step(results);  // each joins one step later than the one before
  }
  while (!loop.empty()) {
    loop.step(results);
  }
  ASSERT_EQ(results.size(), static_cast<size_t>(kSentences));
  for (const SearchResult& result : results) {
    TableModel alone(20, next);
    const auto slot = static_cast<int32_t>(result.sentence);
    expect_same(search_one(alone, options, {0, 5 + slot}, slot), result.hypotheses, result.sentence);
  }
}

TEST(Search, BrokenLogitsAreAnErrorNotAResult) {
  TableModel model(kSmallVocab, [](int32_t, const Ids&) -> Table { return {{kA, std::nan("")}, {kB, 0.5}}; });
  for (const int size : {1, 4}) {
    EXPECT_THROW(search_one(model, beam(size), {0, 5}), base::Error) << "beam " << size;
  }
}

}  // namespace
}  // namespace dragoman::decoding
