// The aligner: it finds the dictionary of a corpus made from one, whatever the number of workers.
#include "data/lexical_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "data/vocabulary/vocabulary.h"
#include "support/expect_error.h"

namespace dragoman::data {
namespace {

constexpr int32_t kPieces = 40;
constexpr int32_t kFirst = 4;   // the pieces below are special
constexpr int32_t kFiller = 4;  // a target piece that comes from nothing

// The one translation of a source piece.
int32_t translation_of(int32_t source) {
  return kFirst + 1 + (source - kFirst) * 7 % (kPieces - kFirst - 1);
}

// Sentences of which each piece is translated by the dictionary, neighbours swapped now and then, a filler now and
// then.
std::vector<SentencePair> corpus(size_t size, uint64_t seed) {
  base::Random random(seed);
  std::vector<SentencePair> pairs(size);
  for (SentencePair& pair : pairs) {
    const uint64_t length = 2 + random.below(8);
    for (uint64_t i = 0; i < length; ++i) {
      pair.source.push_back(kFirst + static_cast<int32_t>(random.below(kPieces - kFirst - 1)));
      pair.target.push_back(translation_of(pair.source.back()));
      if (i > 0 && random.below(3) == 0) {
        std::swap(pair.target[pair.target.size() - 1], pair.target[pair.target.size() - 2]);
      }
    }
    if (random.below(3) == 0) {
      pair.target.insert(pair.target.begin() + static_cast<ptrdiff_t>(random.below(length)), kFiller);
    }
    pair.source.push_back(kEosId);
  }
  return pairs;
}

LexicalModel learn(const std::vector<SentencePair>& pairs, const LexicalOptions& options) {
  return learn_lexical_table({pairs.size(), [&](uint64_t i) { return pairs[i]; }}, kPieces, kPieces, options);
}

int32_t likeliest(const LexicalTable& table, int32_t source) {
  const LexicalTable::Row row = table.row(source);
  return row.targets[static_cast<size_t>(std::ranges::max_element(row.probabilities) - row.probabilities.begin())];
}

class LexicalTables : public testing::TestWithParam<double> {};

TEST_P(LexicalTables, FindTheDictionary) {
  const std::vector<SentencePair> pairs = corpus(600, 1);
  LexicalOptions options;
  options.diagonal = GetParam();
  options.iterations = 8;
  const LexicalModel model = learn(pairs, options);
  for (int32_t source = kFirst; source < kPieces - 1; ++source) {
    EXPECT_EQ(likeliest(model.table, source), translation_of(source)) << "source piece " << source;
    EXPECT_GT(model.table.probability(model.table.index(source, translation_of(source))), 0.8F)
        << "source piece " << source;
    double sum = 0.0;
    for (const float probability : model.table.row(source).probabilities) {
      sum += probability;
    }
    EXPECT_NEAR(sum, 1.0, 1e-5) << "source piece " << source;
  }
  if (options.diagonal > 0) {  // model 1 alone is slow to tell it from the pieces beside it
    EXPECT_EQ(likeliest(model.table, kBosId), kFiller) << "what comes from nothing belongs to the row of null";
  }
  EXPECT_EQ(model.pairs_used, pairs.size());
}

INSTANTIATE_TEST_SUITE_P(Diagonal, LexicalTables, testing::Values(0.0, 4.0));

TEST(LexicalTable, IsTheSameWithAnyNumberOfWorkers) {
  const std::vector<SentencePair> pairs = corpus(3000, 2);
  LexicalOptions options;
  const LexicalModel alone = learn(pairs, options);
  for (const int workers : {2, 3, 7}) {
    options.workers = workers;
    const LexicalModel together = learn(pairs, options);
    ASSERT_EQ(together.table.size(), alone.table.size()) << workers << " workers";
    EXPECT_EQ(together.target_counts, alone.target_counts) << workers << " workers";
    for (uint64_t entry = 0; entry < alone.table.size(); ++entry) {
      ASSERT_EQ(together.table.probability(entry), alone.table.probability(entry))
          << "entry " << entry << " with " << workers << " workers";
    }
  }
}

TEST(LexicalTable, ThinsOutATextThatIsTooLarge) {
  const std::vector<SentencePair> pairs = corpus(1000, 3);
  LexicalOptions options;
  const uint64_t all = learn(pairs, options).table.size();
  options.max_entries = all / 2;
  const LexicalModel model = learn(pairs, options);
  EXPECT_LE(model.table.size(), options.max_entries);
  EXPECT_LT(model.pairs_used, pairs.size());
  EXPECT_GT(model.pairs_used, 1U);
}

TEST(LexicalTable, TakesEmptySidesAndNoPairs) {
  EXPECT_EQ(learn({}, {}).table.size(), 0U);
  const LexicalModel model = learn({{0, {kEosId}, {7}}, {1, {8, kEosId}, {}}}, {});
  ASSERT_EQ(model.table.size(), 1U) << "null with the piece 7, nothing else stands together";
  EXPECT_FLOAT_EQ(model.table.probability(0), 1.0F);
}

TEST(LexicalTable, RefusesOptionsOutOfRange) {
  LexicalOptions options;
  options.iterations = 0;
  test_support::expect_error(base::ErrorKind::kUsage, {"iterations is 0, must be 1 to 100"}, [&] { options.check(); });
  options = {};
  options.null_probability = 1.0;
  test_support::expect_error(base::ErrorKind::kUsage, {"null_probability is 1"}, [&] { options.check(); });
  test_support::expect_error(base::ErrorKind::kUsage, {"1000000 and 1000000"},
                             [] { static_cast<void>(learn_lexical_table({}, 1000000, 1000000, {})); });
}

}  // namespace
}  // namespace dragoman::data
