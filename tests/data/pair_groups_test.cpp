// Laws of groups of pairs of texts.
#include "data/pair_groups.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "data/batcher.h"
#include "support/expect_error.h"

namespace dragoman::data {
namespace {

// Pair i has the texts {i} and {1000 + i, 1000 + i}; every third pair has the right text of pair 0.
std::vector<EncodedTexts> pairs(int count, bool shares_texts = false) {
  std::vector<EncodedTexts> all;
  for (int32_t pair = 0; pair < count; ++pair) {
    const int32_t right = 1000 + (shares_texts && pair % 3 == 0 ? 0 : pair);
    all.push_back({{pair}, {right, right}, fmt::format("t.tsv:{}", pair + 1)});
  }
  return all;
}

// The left texts of a group.
std::vector<int32_t> lefts(const SentencePair& group) {
  std::vector<int32_t> ids;
  for (size_t text = 0; text < group.text_begins.size(); text += 2) {
    ids.push_back(group.source[static_cast<size_t>(group.text_begins[text])]);
  }
  return ids;
}

TEST(PairGroups, AnEpochHoldsEachPairOnceInGroupsOfNearlyEqualSize) {
  const PairGroups groups(pairs(50), {.pairs = 8});
  EXPECT_EQ(groups.size(), 7U);
  for (const uint64_t epoch : {uint64_t{0}, uint64_t{1}, PairGroups::kInOrder}) {
    std::vector<int32_t> seen;
    for (uint64_t index = 0; index < groups.size(); ++index) {
      const SentencePair group = groups.pair(index, epoch);
      const std::vector<int32_t> of_group = lefts(group);
      EXPECT_GE(of_group.size(), 7U);
      EXPECT_LE(of_group.size(), 8U);
      EXPECT_EQ(group.target_tokens(), static_cast<int64_t>(of_group.size()));
      EXPECT_EQ(group.source_tokens(), 3 * static_cast<int64_t>(of_group.size()));
      seen.insert(seen.end(), of_group.begin(), of_group.end());
    }
    EXPECT_EQ(std::ranges::is_sorted(seen), epoch == PairGroups::kInOrder);
    std::ranges::sort(seen);
    for (int32_t pair = 0; pair < 50; ++pair) {
      EXPECT_EQ(seen[static_cast<size_t>(pair)], pair);
    }
  }
}

TEST(PairGroups, EpochAndSeedAloneDecide) {
  const PairGroups first(pairs(50), {.pairs = 8}), again(pairs(50), {.pairs = 8}),
      other(pairs(50), {.pairs = 8, .seed = 2});
  for (uint64_t epoch = 0; epoch < 9; ++epoch) {
    static_cast<void>(first.pair(0, epoch));
  }
  EXPECT_EQ(first.pair(3, 2).source, again.pair(3, 2).source) << "whatever was asked for before";
  EXPECT_NE(first.pair(3, 2).source, again.pair(3, 3).source);
  EXPECT_NE(first.pair(3, 2).source, other.pair(3, 2).source);
}

TEST(PairGroups, PairsThatShareATextDoNotMeet) {
  const PairGroups groups(pairs(30, true), {.pairs = 3});  // ten groups, ten pairs with the same right text
  for (uint64_t epoch = 0; epoch < 20; ++epoch) {
    int doubled = 0;
    for (uint64_t index = 0; index < groups.size(); ++index) {
      const std::vector<int32_t> of_group = lefts(groups.pair(index, epoch));
      doubled += std::ranges::count_if(of_group, [](int32_t pair) { return pair % 3 == 0; }) > 1 ? 1 : 0;
    }
    EXPECT_LE(doubled, 3) << "only where the other groups are full";
  }
  const PairGroups roomy(pairs(12, true), {.pairs = 2});
  EXPECT_EQ(roomy.size(), 6U);
}

TEST(PairGroups, WindowsHaveTheSizesOfTheExamples) {
  const PairGroups groups(pairs(20), {.pairs = 6});
  const std::vector<uint32_t> indices = {2, 0, 3};
  const Examples::Window window = groups.window(indices, 5);
  ASSERT_EQ(window.sizes.size(), 3U);
  for (size_t position = 0; position < indices.size(); ++position) {
    const SentencePair group = groups.pair(indices[position], 5);
    EXPECT_EQ(window.sizes[position].source_tokens, group.source_tokens());
    EXPECT_EQ(window.sizes[position].target_tokens, group.target_tokens());
  }
}

TEST(PairGroups, ABatchIsCutBetweenGroups) {
  const PairGroups groups(pairs(24), {.pairs = 6});
  Batch batch;
  for (uint64_t index = 0; index < groups.size(); ++index) {
    append(batch, groups.pair(index, 0));
  }
  const BatchShare share = split(batch, 3);
  std::vector<int32_t> begins;
  for (const Batch& shard : share.shards) {
    EXPECT_EQ(shard.text_begins.size(), 2 * shard.target_output.size());
    begins.insert(begins.end(), shard.text_begins.begin(), shard.text_begins.end());
  }
  EXPECT_EQ(begins, batch.text_begins);
}

// Pair i with a text that is unlike its left one: the left text of pair i + 1, as in hard negatives that are mined.
std::vector<EncodedTexts> triples(int count) {
  std::vector<EncodedTexts> all = pairs(count);
  for (int32_t pair = 0; pair < count; ++pair) {
    all[static_cast<size_t>(pair)].far = {(pair + 1) % count};
  }
  return all;
}

TEST(PairGroups, FarTextsStandBehindTheirPairAndDoNotMeetAsRightOnes) {
  const PairGroups groups(triples(40), {.pairs = 4});
  for (uint64_t epoch = 0; epoch < 5; ++epoch) {
    int met = 0;
    for (uint64_t index = 0; index < groups.size(); ++index) {
      const SentencePair group = groups.pair(index, epoch);
      ASSERT_EQ(group.text_begins.size(), 3 * static_cast<size_t>(group.target_tokens()));
      EXPECT_EQ(groups.window(std::vector<uint32_t>{static_cast<uint32_t>(index)}, epoch).sizes[0].source_tokens,
                group.source_tokens());
      std::set<int32_t> of_group, far;
      for (size_t text = 0; text < group.text_begins.size(); text += 3) {
        const int32_t left = group.source[static_cast<size_t>(group.text_begins[text])];
        EXPECT_EQ(group.source[static_cast<size_t>(group.text_begins[text + 2])], (left + 1) % 40);
        of_group.insert(left);
        far.insert((left + 1) % 40);
      }
      met += std::ranges::any_of(far, [&](int32_t text) { return of_group.contains(text); }) ? 1 : 0;
    }
    EXPECT_LE(met, 2) << "only where the other groups are full";
  }
}

TEST(PairGroups, ABatchOfTriplesIsCutBetweenGroups) {
  const PairGroups groups(triples(24), {.pairs = 6});
  Batch batch;
  for (uint64_t index = 0; index < groups.size(); ++index) {
    append(batch, groups.pair(index, 0));
  }
  EXPECT_EQ(batch.texts_of_pair(), 3);
  std::vector<int32_t> begins;
  for (const Batch& shard : split(batch, 3).shards) {
    EXPECT_EQ(shard.text_begins.size(), 3 * shard.target_output.size());
    begins.insert(begins.end(), shard.text_begins.begin(), shard.text_begins.end());
  }
  EXPECT_EQ(begins, batch.text_begins);
}

TEST(PairGroups, OnePairIsRefused) {
  test_support::expect_error(base::ErrorKind::kBadData, {"number of pairs is 1", "2 or more"},
                             [] { PairGroups(pairs(1), {}); });
}

}  // namespace
}  // namespace dragoman::data
