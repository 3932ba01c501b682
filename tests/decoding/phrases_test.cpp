// Phrases that must appear: progress through them, sharing of the beam, laws over random tables, and terminology.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/random.h"
#include "decoding/search/phrase_constraints.h"
#include "decoding/terms.h"
#include "id_phrases.h"
#include "support/error_of.h"
#include "table_model.h"

namespace dragoman::decoding {
namespace {

constexpr int32_t kVocab = 14;

Table random_table(uint64_t seed, const Ids& history) {
  return drawn_table(seed, history, data::kEosId, kVocab,
                     [](int32_t, double uniform) { return std::exp(4.0 * uniform); });
}

std::vector<Hypothesis> search_with(StepModel& model, const SearchOptions& options, const SearchLimits& limits,
                                    const std::vector<Ids>& phrases) {
  SentenceRequest request;
  request.phrases = phrases_of(phrases);
  return search_one(model, options, limits, request);
}

bool holds(const Ids& ids, const Ids& phrase) {
  return !std::ranges::search(ids, phrase).empty();
}

TEST(PhraseConstraints, FollowAPhraseLoseItAndFindItAgain) {
  const PhraseConstraints phrases(phrases_of({{4, 4, 5}, {6, 7}}));
  EXPECT_EQ(phrases.met_tokens(phrases.progress_of(Ids{4})), 1);
  EXPECT_EQ(phrases.met_tokens(phrases.progress_of(Ids{4, 6})), 1) << "the first is lost, the second begun";
  EXPECT_EQ(phrases.met_tokens(phrases.progress_of(Ids{4, 4, 4})), 2) << "4 4 is still a beginning";
  EXPECT_EQ(phrases.met_tokens(phrases.progress_of(Ids{4, 4, 4, 5})), 3);
  EXPECT_FALSE(phrases.complete(phrases.progress_of(Ids{4, 4, 5, 6})));
  EXPECT_TRUE(phrases.complete(phrases.progress_of(Ids{6, 7, 9, 4, 4, 5})));
  EXPECT_TRUE(phrases.complete(phrases.progress_of(Ids{4, 4, 5, 6, 7, 8, 8}))) << "what is met stays met";
}

TEST(PhraseConstraints, WantTheNextPieceOrEveryFirstOne) {
  const PhraseConstraints phrases(phrases_of({{4, 5}, {4, 6}, {7}}));
  const auto wanted = [&](const Ids& ids) {
    Ids tokens;
    phrases.append_wanted(phrases.progress_of(ids), tokens);
    return tokens;
  };
  EXPECT_EQ(wanted({}), (Ids{4, 7}));
  EXPECT_EQ(wanted({4}), (Ids{5, 6}));
  EXPECT_EQ(wanted({4, 6}), (Ids{4, 7}));
  EXPECT_EQ(wanted({4, 6, 4, 5, 7}), Ids{});
}

TEST(PhraseConstraints, ProgressIsWhatTheTextHolds) {
  base::Random random(5);
  const std::vector<Ids> two = {{4, 5, 4, 4}, {5, 4, 5}};
  const PhraseConstraints phrases(phrases_of(two));
  for (int round = 0; round < 500; ++round) {
    Ids ids;
    for (int i = 0; i < 12; ++i) {
      ids.push_back(static_cast<int32_t>(4 + random.below(2)));
    }
    EXPECT_EQ(phrases.complete(phrases.progress_of(ids)), holds(ids, two[0]) && holds(ids, two[1]))
        << "round " << round;
  }
}

TEST(PhraseConstraints, RefuseTooManyAndEmptyOnes) {
  EXPECT_THAT(test_support::error_of([] { PhraseConstraints phrases(phrases_of(std::vector<Ids>(65, {4}))); }),
              testing::HasSubstr("phrases: 65 are demanded of one sentence, at most 64 can be"));
  EXPECT_THAT(test_support::error_of([] { PhraseConstraints phrases(phrases_of({{}})); }),
              testing::HasSubstr("one is empty"));
}

TEST(ShareOut, DealsOneToEachBankInTurnFullestFirst) {
  std::vector<Candidate> candidates;
  for (int32_t i = 0; i < 6; ++i) {
    candidates.push_back({0, i, 0.0F, -static_cast<double>(i)});
  }
  const std::vector<int64_t> banks = {0, 0, 0, 1, 2, 1};
  const auto kept = [&](size_t count) {
    std::vector<Candidate> copy = candidates;
    share_out(copy, banks, count);
    Ids ids;
    for (const Candidate& candidate : copy) {
      ids.push_back(candidate.token_id);
    }
    return ids;
  };
  EXPECT_EQ(kept(1), Ids{4});
  EXPECT_EQ(kept(3), (Ids{0, 3, 4}));
  EXPECT_EQ(kept(5), (Ids{0, 1, 3, 4, 5}));
  EXPECT_EQ(kept(9), (Ids{0, 1, 2, 3, 4, 5}));
}

TEST(Phrases, AlwaysAppearAndScoresAreTheModels) {
  for (uint64_t seed = 0; seed < 80; ++seed) {
    base::Random random(seed);
    std::vector<Ids> phrases;
    for (uint64_t p = 0; p < 1 + seed % 3; ++p) {
      Ids phrase;
      for (uint64_t i = 0; i < 1 + random.below(3); ++i) {
        phrase.push_back(static_cast<int32_t>(4 + random.below(kVocab - 4)));
      }
      phrases.push_back(phrase);
    }
    TableModel model(kVocab, [seed](int32_t, const Ids& history) { return random_table(seed, history); });
    SearchOptions options;
    options.beam_size = std::array{1, 4, 8}[seed % 3];
    options.n_best = std::min(options.beam_size, 2);
    const auto found = search_with(model, options, {0, 20}, phrases);
    EXPECT_NE(found.at(0).finish_reason, FinishReason::kPhrasesMissing) << "seed " << seed;
    for (const Hypothesis& hypothesis : found) {
      double sum = 0.0;
      Ids history;
      for (const int32_t id : hypothesis.ids) {
        sum += std::log(random_table(seed, history).at(id));
        history.push_back(id);
      }
      if (hypothesis.finish_reason == FinishReason::kEndOfSentence) {
        sum += std::log(random_table(seed, history).at(data::kEosId));
      }
      EXPECT_NEAR(hypothesis.score, sum, 1e-4) << "seed " << seed;
      const bool all = std::ranges::all_of(phrases, [&](const Ids& phrase) { return holds(hypothesis.ids, phrase); });
      // The best holds them all; what was cut behind it says when it does not.
      EXPECT_TRUE(all || hypothesis.finish_reason == FinishReason::kPhrasesMissing) << "seed " << seed;
    }
  }
}

TEST(Phrases, ThatComeByThemselvesChangeNothingMuch) {
  // What the free search finds satisfies the demand, so the demand must find nothing better.
  for (uint64_t seed = 0; seed < 40; ++seed) {
    TableModel model(kVocab, [seed](int32_t, const Ids& history) { return random_table(seed, history); });
    SearchOptions options;
    options.beam_size = 128;  // of 11 tokens: all sentences of 2, exhaustive
    options.beam.early_stop = false;
    const Hypothesis free = search_one(model, options, {0, 2}).at(0);
    if (free.ids.empty()) {
      continue;
    }
    const Hypothesis demanded = search_with(model, options, {0, 2}, {{free.ids.front()}}).at(0);
    EXPECT_EQ(demanded.ids, free.ids) << "seed " << seed;
    EXPECT_EQ(demanded.score, free.score) << "seed " << seed;
  }
}

TEST(Phrases, TooLittleRoomIsSaid) {
  TableModel model(kVocab, [](int32_t, const Ids& history) { return random_table(3, history); });
  SearchOptions options;
  const Hypothesis cut = search_with(model, options, {0, 2}, {{4, 5, 6}}).at(0);
  EXPECT_EQ(cut.finish_reason, FinishReason::kPhrasesMissing);
  EXPECT_EQ(name_of(cut.finish_reason), "phrases_missing");
}

// What may follow the prefix 4 if `phrase` is demanded: its end, 5 or 6.
std::vector<Hypothesis> alternatives_after_4(const Ids& phrase, int64_t max_length) {
  TableModel model(kVocab, [](int32_t, const Ids& history) {
    return history.size() <= 1 ? Table{{data::kEosId, 0.5}, {5, 0.3}, {6, 0.2}} : Table{{data::kEosId, 0.9}, {5, 0.1}};
  });
  SearchOptions options;
  options.alternatives = true;
  options.n_best = 3;
  SentenceRequest request;
  request.prefix = {4};
  request.phrases = phrases_of({phrase});
  return search_one(model, options, {0, max_length}, request);
}

TEST(Phrases, AlternativesEndWhereThePrefixHoldsThem) {
  const auto held = alternatives_after_4({4}, 8);
  ASSERT_EQ(held.size(), 3U);
  EXPECT_EQ(held[0].ids, Ids({4}));
  EXPECT_EQ(held[0].finish_reason, FinishReason::kEndOfSentence);
  const auto lacked = alternatives_after_4({5}, 8);
  ASSERT_EQ(lacked.size(), 2U) << "no alternative ends before the phrase";
  for (const Hypothesis& hypothesis : lacked) {
    EXPECT_TRUE(holds(hypothesis.ids, {5}));
    EXPECT_EQ(hypothesis.finish_reason, FinishReason::kEndOfSentence);
  }
}

TEST(Phrases, AlternativesThatAreCutBeforeThemSaySo) {
  const auto cut = alternatives_after_4({5}, 2);
  ASSERT_EQ(cut.size(), 2U);
  EXPECT_EQ(cut[0].ids, Ids({4, 5}));
  EXPECT_EQ(cut[0].finish_reason, FinishReason::kLengthLimit);
  EXPECT_EQ(cut[1].ids, Ids({4, 6}));
  EXPECT_EQ(cut[1].finish_reason, FinishReason::kPhrasesMissing);
}

TEST(Phrases, SamplingRefusesThem) {
  TableModel model(kVocab, [](int32_t, const Ids& history) { return random_table(3, history); });
  SearchOptions options;
  options.sampling.temperature = 1.0;
  EXPECT_THAT(test_support::error_of([&] {
                search_with(model, options, {0, 9}, {{4}});
              }),
              testing::HasSubstr("phrases: sampling cannot"));
}

TEST(TermTable, FindsWholeWordsTheLongestFirst) {
  const std::vector<std::string> lines = {"house\tHaus",
                                          "white house\tWei\xC3\x9F"
                                          "es Haus",
                                          "",
                                          "\xE7\x8C\xAB\tKatze",
                                          "caf\xC3\xA9\tKaffeehaus",
                                          "\xE0\xB9\x81\xE0\xB8\xA1\xE0\xB8\xA7\tcat",
                                          " cat \t Katze "};
  const TermTable terms(lines, "terms.tsv");
  const auto found = [&](const char* line) { return terms.find(line); };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(found("the house, the housework, a lighthouse."), Texts{"Haus"});
  EXPECT_EQ(found("the white house and a house"), (Texts{"Wei\xC3\x9F"
                                                         "es Haus",
                                                         "Haus"}));
  EXPECT_EQ(found("\xE9\xBB\x91\xE7\x8C\xAB\xE3\x81\x8C"), Texts{"Katze"}) << "no borders in Japanese";
  EXPECT_EQ(found("\xE0\xB8\x81\xE0\xB9\x81\xE0\xB8\xA1\xE0\xB8\xA7\xE0\xB8\x81"), Texts{"cat"}) << "nor in Thai";
  EXPECT_EQ(found("caf\xC3\xA9s caf\xC3\xA9"), Texts{"Kaffeehaus"});
  EXPECT_EQ(found("cat\xC3\xA9 House"), Texts{}) << "letters must match, and e acute is one";
  EXPECT_EQ(found("a cat; \xE7\x8C\xAB"), Texts{"Katze"}) << "each phrase once";
}

TEST(TermTable, NamesALineThatIsNone) {
  for (const char* line : {"Haus", "\tHaus", "house\t "}) {
    const std::vector<std::string> lines = {"a\tb", line};
    EXPECT_THAT(test_support::error_of([&] { TermTable(lines, "terms.tsv"); }),
                testing::HasSubstr("terms.tsv line 2: \"" + std::string(line) + "\" has no tab"));
  }
}

TEST(TermTable, TakesTheLanguagesThatDeepLExports) {
  const std::vector<std::string> lines = {"cat\tKatze\tEN\tDE", "dog\tHund\t\t", "red\trot\tEN\tDE\t"};
  const TermTable terms(lines, "terms.tsv");
  EXPECT_EQ(terms.find("a red cat, a dog"), (std::vector<std::string>{"rot", "Katze", "Hund"}));
}

TEST(TermTable, OtherColumnsAreAnError) {
  for (const char* line : {"cat\tKatze\tnoun", "cat\tKatze\tEN", "cat\tKatze\tthe animal\tDE", "cat\tKatze\tEN\tDE\tx",
                           "cat\tKatze\t\tDE", "cat\tKatze\tx\ty"}) {
    const std::vector<std::string> lines = {"a\tb", line};
    EXPECT_THAT(test_support::error_of([&] { TermTable(lines, "terms.tsv"); }),
                testing::HasSubstr("terms.tsv line 2: has "))
        << line;
  }
  const std::vector<std::string> two_pairs = {"cat\tKatze\tEN\tDE", "cat\tchat\tEN\tFR"};
  EXPECT_EQ(test_support::error_of([&] { TermTable(two_pairs, "terms.tsv"); }),
            "terms.tsv line 2: is for EN to FR, lines before it are for EN to DE; give the terms of one pair");
}

}  // namespace
}  // namespace dragoman::decoding
