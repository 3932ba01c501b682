// Laws of BLEU and chrF, and the n-gram counts against a plain implementation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>

#include "base/error.h"
#include "base/random.h"
#include "evaluation/bleu.h"
#include "evaluation/chrf.h"
#include "evaluation/evaluate.h"
#include "evaluation/ngrams.h"
#include "evaluation/translation_edits.h"
#include "support/corpora.h"
#include "support/expect_error.h"

namespace dragoman::evaluation {
namespace {

using Strings = std::vector<std::string>;

Symbols random_symbols(base::Random& random, size_t max_length, uint32_t alphabet) {
  Symbols symbols(random.below(max_length + 1));
  std::generate(symbols.begin(), symbols.end(), [&] { return static_cast<uint32_t>(random.below(alphabet)); });
  return symbols;
}

std::map<Symbols, int64_t> plain_counts(const Symbols& symbols, size_t order) {
  std::map<Symbols, int64_t> counts;
  for (size_t start = 0; start + order <= symbols.size(); ++start) {
    ++counts[Symbols(symbols.begin() + static_cast<std::ptrdiff_t>(start),
                     symbols.begin() + static_cast<std::ptrdiff_t>(start + order))];
  }
  return counts;
}

int64_t plain_matches(const std::vector<Symbols>& references, const Symbols& hypothesis, size_t order) {
  std::map<Symbols, int64_t> limits;
  for (const Symbols& reference : references) {
    for (const auto& [ngram, count] : plain_counts(reference, order)) {
      limits[ngram] = std::max(limits[ngram], count);
    }
  }
  int64_t matches = 0;
  for (const auto& [ngram, count] : plain_counts(hypothesis, order)) {
    matches += std::min(count, limits[ngram]);
  }
  return matches;
}

TEST(NgramMatcher, EqualsPlainCounting) {
  base::Random random(1);
  NgramMatcher matcher;
  for (int round = 0; round < 400; ++round) {
    const auto alphabet = static_cast<uint32_t>(1 + random.below(12));
    const size_t max_length = round % 50 == 0 ? 2000 : 40;
    std::vector<Symbols> references(1 + random.below(3));
    std::generate(references.begin(), references.end(), [&] { return random_symbols(random, max_length, alphabet); });
    const Symbols hypothesis = random_symbols(random, max_length, alphabet);
    std::array<int64_t, 6> matches{};
    matcher.count(references, hypothesis, matches);
    for (size_t order = 1; order <= matches.size(); ++order) {
      EXPECT_EQ(matches[order - 1], plain_matches(references, hypothesis, order))
          << "round " << round << " order " << order;
    }
  }
}

Strings random_text(uint64_t seed, size_t n_lines) {
  static const Strings words = {"the", "animal", "crossed", "The", "street,", "tired.", "it", "wide", "(was)", "3.5"};
  base::Random random(seed);
  Strings lines(n_lines);
  for (std::string& line : lines) {
    for (size_t n = random.below(14); n > 0; --n) {
      line += (line.empty() ? "" : " ") + words[random.below(words.size())];
    }
  }
  return lines;
}

double bleu(const Strings& hypothesis, const std::vector<Lines>& references, const BleuOptions& options = {}) {
  return corpus_bleu(hypothesis, references, options).score;
}

double chrf(const Strings& hypothesis, const std::vector<Lines>& references, const ChrfOptions& options = {}) {
  return corpus_chrf(hypothesis, references, options).score;
}

double ter(const Strings& hypothesis, const std::vector<Lines>& references, const TerOptions& options = {}) {
  return corpus_ter(hypothesis, references, options).score;
}

// Plain edit distance without a band and without shifts.
int64_t plain_distance(const Symbols& a, const Symbols& b) {
  std::vector<std::vector<int64_t>> cost(a.size() + 1, std::vector<int64_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      cost[i][j] = i == 0 ? static_cast<int64_t>(j) : cost[i - 1][j] + 1;
      if (j > 0) {
        cost[i][j] = std::min(cost[i][j], cost[i][j - 1] + 1);
      }
      if (i > 0 && j > 0) {
        cost[i][j] = std::min(cost[i][j], cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1));
      }
    }
  }
  return cost.back().back();
}

TEST(TranslationEdits, AreAtMostTheEditDistanceAndNoneForEqualWords) {
  base::Random random(5);
  for (int round = 0; round < 300; ++round) {
    const Symbols a = random_symbols(random, 24, 9);
    const Symbols b = random_symbols(random, 24, 9);
    EXPECT_LE(translation_edits(a, b), b.empty() ? static_cast<int64_t>(a.size()) : plain_distance(a, b));
    const auto gap = static_cast<int64_t>(a.size()) - static_cast<int64_t>(b.size());
    EXPECT_GE(translation_edits(a, b), std::abs(gap));
    EXPECT_EQ(translation_edits(a, a), 0);
  }
}

TEST(TranslationEdits, AMovedBlockIsOneEdit) {
  EXPECT_EQ(translation_edits({4, 5, 6, 1, 2, 3}, {1, 2, 3, 4, 5, 6}), 1);
  EXPECT_EQ(translation_edits({1, 2, 7, 8, 3, 4}, {1, 2, 3, 4, 7, 8}), 1);
  EXPECT_EQ(translation_edits({4, 5, 6, 1, 2, 9}, {1, 2, 3, 4, 5, 6}), 2);
}

TEST(Metrics, TerCountsEditsAgainstTheMeanLength) {
  EXPECT_NEAR(ter({"a b c d"}, {Strings{"a b c x"}}), 25.0, 1e-12);
  EXPECT_NEAR(ter({"a b c d"}, {Strings{"a b c x"}, Strings{"a b c d e f"}}), 100.0 * 1 / 5, 1e-12);
  EXPECT_EQ(ter({"a b"}, {Strings{""}}), 100.0);
  EXPECT_EQ(ter({""}, {Strings{""}}), 0.0);
  EXPECT_EQ(ter({"A b"}, {Strings{"a b"}}), 0.0);
  EXPECT_EQ(ter({"A b"}, {Strings{"a b"}}, {.case_sensitive = true}), 50.0);
  EXPECT_EQ(ter({"a, b!"}, {Strings{"a b"}}, {.no_punctuation = true}), 0.0);
  EXPECT_EQ(ter({"我很好"}, {Strings{"我不好"}}), 100.0);
  EXPECT_NEAR(ter({"我很好"}, {Strings{"我不好"}}, {.normalized = true, .asian_support = true}), 100.0 / 3, 1e-12);
}

TEST(Metrics, ATextAgainstItselfScoresHundred) {
  const Strings text = random_text(2, 50);
  for (const Tokenizer tokenizer :
       {Tokenizer::k13a, Tokenizer::kIntl, Tokenizer::kZh, Tokenizer::kChar, Tokenizer::kNone}) {
    EXPECT_NEAR(bleu(text, {text}, {.tokenize = tokenizer}), 100.0, 1e-9) << tokenizer_name(tokenizer);
  }
  EXPECT_NEAR(chrf(text, {text}), 100.0, 1e-9);
  EXPECT_NEAR(chrf(text, {text}, {.word_order = 2}), 100.0, 1e-9);
}

TEST(Metrics, AnEmptyHypothesisScoresZero) {
  const Strings reference = random_text(3, 5);
  const Strings empty(5);
  EXPECT_EQ(bleu(empty, {reference}), 0.0);
  EXPECT_EQ(chrf(empty, {reference}), 0.0);
}

TEST(Metrics, OrderOfLinesDoesNotMatter) {
  Strings hypothesis = random_text(4, 40);
  Strings reference = random_text(5, 40);
  const double bleu_before = bleu(hypothesis, {reference});
  const double chrf_before = chrf(hypothesis, {reference});
  std::reverse(hypothesis.begin(), hypothesis.end());
  std::reverse(reference.begin(), reference.end());
  EXPECT_EQ(bleu(hypothesis, {reference}), bleu_before);
  EXPECT_EQ(chrf(hypothesis, {reference}), chrf_before);
}

TEST(Metrics, ASecondEqualReferenceChangesNothing) {
  const Strings hypothesis = random_text(6, 40);
  const Strings reference = random_text(7, 40);
  EXPECT_EQ(bleu(hypothesis, {reference, reference}), bleu(hypothesis, {reference}));
  EXPECT_EQ(chrf(hypothesis, {reference, reference}), chrf(hypothesis, {reference}));
}

TEST(Metrics, AmongReferencesTheRightOneIsFound) {
  Strings text = random_text(8, 40);
  // An empty line scores 0 against everything, so that the first reference stays.
  std::replace(text.begin(), text.end(), std::string(), std::string("tired"));
  const Strings other = random_text(9, 40);
  EXPECT_NEAR(bleu(text, {other, text}), 100.0, 1e-9);
  EXPECT_NEAR(chrf(text, {other, text}), 100.0, 1e-9);
}

TEST(Metrics, LowerCasingForgivesCase) {
  const Strings lower = {"das größte tier überquert die straße"};
  const Strings upper = {"DAS GRÖßTE TIER ÜBERQUERT DIE STRAßE"};
  EXPECT_LT(bleu(upper, {lower}), 1e-9);
  EXPECT_NEAR(bleu(upper, {lower}, {.lowercase = true}), 100.0, 1e-9);
  EXPECT_NEAR(chrf(upper, {lower}, {.lowercase = true}), 100.0, 1e-9);
}

TEST(Metrics, WhiteSpaceAtTheEndNeverCounts) {
  const Strings plain = {"It was 5.", "tired"};
  const Strings spaced = {"It was 5. \t\r", "tired\u3000"};
  const Strings reference = {"It was 5 .", "tired"};
  EXPECT_EQ(bleu(spaced, {reference}), bleu(plain, {reference}));
  EXPECT_EQ(bleu(spaced, {reference}, {.tokenize = Tokenizer::kIntl}),
            bleu(plain, {reference}, {.tokenize = Tokenizer::kIntl}));
  EXPECT_EQ(chrf(spaced, {reference}, {.word_order = 2}), chrf(plain, {reference}, {.word_order = 2}));
}

TEST(Metrics, ShortTranslationsPayTheBrevityPenalty) {
  const Strings reference = {"a b c d e f g h i j"};
  const Strings half = {"a b c d e"};
  // All precisions are 1, so that BLEU = 100 exp(1 - 10/5).
  EXPECT_NEAR(bleu(half, {reference}), 100.0 * std::exp(-1.0), 1e-9);
}

TEST(Metrics, ALineOfAHundredThousandWordsIsCounted) {
  std::string line;
  for (int64_t i = 0; i < 100000; ++i) {
    line += std::to_string(i * i % 70001) + " ";
  }
  EXPECT_NEAR(bleu({line}, {Strings{line}}), 100.0, 1e-9);
}

TEST(Metrics, UnequalLineCountsAreRefused) {
  const Strings two = {"a", "b"};
  const Strings three = {"a", "b", "c"};
  test_support::expect_error(base::ErrorKind::kBadData, {"2 lines", "reference 2 has 3"}, [&] {
    corpus_bleu(two, {two, three});
  });
  EXPECT_THROW(corpus_chrf(Strings{}, {Strings{}}), base::Error);
  EXPECT_THROW(corpus_chrf(two, {}), base::Error);
}

TEST(Metrics, OptionsOutOfRangeAreRefused) {
  EXPECT_THROW(Bleu({.smooth_value = -0.1}), base::Error);
  EXPECT_THROW(Chrf({.char_order = 0}), base::Error);
  EXPECT_THROW(Chrf({.word_order = -1}), base::Error);
  EXPECT_THROW(Chrf({.beta = 0}), base::Error);
}

TEST(Metrics, ACopyOfARealTestSetScoresHundredAndADamagedOneLess) {
  const std::string name = "multi30k/test_2016_flickr.de";
  if (const std::string missing = test_support::missing_corpora({name}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  std::ifstream file(test_support::corpus_file(name));
  Strings reference;
  for (std::string line; std::getline(file, line);) {
    reference.push_back(line);
  }
  Strings damaged = reference;
  for (size_t i = 0; i < damaged.size(); i += 2) {
    damaged[i].resize(damaged[i].find(' ') + 1);
  }
  EXPECT_NEAR(bleu(reference, {reference}), 100.0, 1e-9);
  EXPECT_GT(bleu(damaged, {reference}), 1.0);
  EXPECT_LT(bleu(damaged, {reference}), 80.0);
}

}  // namespace
}  // namespace dragoman::evaluation
