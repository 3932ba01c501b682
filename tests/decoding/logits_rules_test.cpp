// Rules over logits and tables written by hand.
#include "decoding/search/logits_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decoding/search/banned_phrases.h"
#include "table_model.h"
#include "tiny_vocabulary.h"

namespace dragoman::decoding {
namespace {

std::vector<float> applied(const SearchOptions& options, const Ids& history, std::vector<float> logits) {
  LogitsRules(options, {}).apply(history, logits);
  return logits;
}

SearchOptions with_beam(int size) {
  SearchOptions options;
  options.beam_size = size;
  options.ranking.alpha = 0.0;
  return options;
}

TEST(LogitsRules, NothingAskedIsNoRule) {
  EXPECT_TRUE(LogitsRules(SearchOptions(), {}).empty());
  SearchOptions options;
  options.rules.banned = std::make_shared<BannedPhrases>(vocabulary(), std::vector<std::string>{" "});
  EXPECT_TRUE(LogitsRules(options, {}).empty());
}

TEST(LogitsRules, RepetitionPenaltyDividesPositiveAndMultipliesNegativeLogitsOnce) {
  SearchOptions options;
  options.rules.repetition_penalty = 2.0;
  const std::vector<float> logits = {0, 0, 0, 0.5F, 3, -1, 2};
  EXPECT_EQ(applied(options, {kA, kB, kA, kA}, logits), (std::vector<float>{0, 0, 0, 0.5F, 1.5F, -2, 2}));
  EXPECT_EQ(applied(options, {}, logits), logits);
}

TEST(LogitsRules, NoRunOfPiecesComesTwice) {
  const std::vector<float> logits(kSmallVocab, 1.0F);
  const auto forbidden = [&](int n, const Ids& history) {
    SearchOptions options;
    options.rules.no_repeat_ngram = n;
    const std::vector<float> seen = applied(options, history, logits);
    Ids ids;
    for (int32_t id = 0; id < kSmallVocab; ++id) {
      if (seen[static_cast<size_t>(id)] == -INFINITY) {
        ids.push_back(id);
      }
    }
    return ids;
  };
  EXPECT_EQ(forbidden(1, {kA, kC}), (Ids{kA, kC}));
  EXPECT_EQ(forbidden(2, {kA, kB, kA}), Ids{kB});
  EXPECT_EQ(forbidden(2, {kA, kB, kA, kC, kA}), (Ids{kB, kC}));
  EXPECT_EQ(forbidden(2, {kA, kA}), Ids{kA});
  EXPECT_EQ(forbidden(3, {kA, kB, kC, kA, kB}), Ids{kC});
  EXPECT_EQ(forbidden(3, {kA, kB, kC, kB}), Ids{});
  EXPECT_EQ(forbidden(3, {kA}), Ids{});
}

// What beam and greedy search make of the rules: a model that would say "a" for ever.
Table stubborn(int32_t, const Ids& history) {
  return history.size() < 4 ? Table{{kA, 0.7}, {kB, 0.2}, {kC, 0.1}} : Table{{kEnd, 1.0}};
}

TEST(LogitsRules, SearchesObeyAndScoresStayTheModels) {
  for (const int size : {1, 3}) {
    TableModel model(kSmallVocab, stubborn);
    SearchOptions options = with_beam(size);
    EXPECT_EQ(search_one(model, options, {0, 10}).at(0).ids, (Ids{kA, kA, kA, kA})) << "beam " << size;
    options.rules.no_repeat_ngram = 2;
    const Hypothesis varied = search_one(model, options, {0, 10}).at(0);
    EXPECT_THAT(varied.ids, testing::Not(testing::Contains(testing::Lt(kA))));
    for (size_t i = 0; i + 3 < varied.ids.size(); ++i) {
      EXPECT_FALSE(varied.ids[i] == varied.ids[i + 2] && varied.ids[i + 1] == varied.ids[i + 3]) << "beam " << size;
    }
    double sum = 0.0;
    for (size_t i = 0; i < varied.ids.size(); ++i) {
      const double expected = std::log(stubborn(0, {}).at(varied.ids[i]));
      EXPECT_NEAR(varied.token_scores[i], expected, 1e-6) << "nothing is renormalised; beam " << size;
      sum += expected;
    }
    EXPECT_NEAR(varied.score, sum, 1e-5) << "beam " << size;
  }
}

TEST(LogitsRules, ThePenaltyTurnsTheChoiceButNotTheTokenScores) {
  for (const int size : {1, 3}) {
    TableModel model(kSmallVocab, [](int32_t, const Ids& history) -> Table {
      return history.size() < 2 ? Table{{kA, 0.5}, {kB, 0.3}, {kC, 0.2}} : Table{{kEnd, 1.0}};
    });
    SearchOptions options = with_beam(size);
    EXPECT_EQ(search_one(model, options, {0, 10}).at(0).ids, (Ids{kA, kA})) << "beam " << size;
    options.rules.repetition_penalty = 2.0;  // log 0.5 * 2 < log 0.3
    const Hypothesis seen = search_one(model, options, {0, 10}).at(0);
    EXPECT_EQ(seen.ids, (Ids{kA, kB})) << "beam " << size;
    EXPECT_NEAR(seen.score, std::log(0.5 * 0.3), 1e-5) << "beam " << size;
  }
  TableModel only(kSmallVocab, [](int32_t, const Ids& history) -> Table {
    return history.size() < 2 ? Table{{kA, 1.0}} : Table{{kEnd, 1.0}};
  });
  SearchOptions options = with_beam(2);
  options.rules.repetition_penalty = 3.0;
  EXPECT_NEAR(search_one(only, options, {0, 10}).at(0).score, 0.0, 1e-6);
}

TEST(LogitsRules, TheUnknownPieceMayBeAllowed) {
  for (const int size : {1, 3}) {
    TableModel model(kSmallVocab, [](int32_t, const Ids& history) -> Table {
      return history.empty() ? Table{{data::kUnkId, 0.9}, {kA, 0.1}} : Table{{kEnd, 1.0}};
    });
    SearchOptions options = with_beam(size);
    EXPECT_EQ(search_one(model, options, {0, 10}).at(0).ids, Ids{kA});
    options.rules.disable_unk = false;
    EXPECT_EQ(search_one(model, options, {0, 10}).at(0).ids, Ids{data::kUnkId});
  }
}

TEST(LogitsRules, EverythingForbiddenCutsInsteadOfCrashing) {
  for (const int size : {1, 3}) {
    TableModel model(kSmallVocab, [](int32_t, const Ids&) -> Table { return {{kA, 0.6}, {kB, 0.4}}; });
    SearchOptions options = with_beam(size);
    options.rules.no_repeat_ngram = 1;
    const Hypothesis cut = search_one(model, options, {0, 10}).at(0);
    EXPECT_EQ(cut.ids, (Ids{kA, kB})) << "beam " << size;
    EXPECT_EQ(cut.finish_reason, FinishReason::kLengthLimit) << "beam " << size;
  }
}

}  // namespace
}  // namespace dragoman::decoding
