// Laws of how work is cut for workers.
#include "decoding/length_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/random.h"

namespace dragoman::decoding {
namespace {

std::vector<int64_t> random_lengths(size_t count, uint64_t longest, uint64_t seed) {
  base::Random random(seed);
  std::vector<int64_t> lengths(count);
  for (int64_t& length : lengths) {
    length = static_cast<int64_t>(random.below(longest + 1));
  }
  return lengths;
}

std::vector<size_t> items_of(const std::vector<LengthGroup>& groups) {
  std::vector<size_t> items;
  for (const LengthGroup& group : groups) {
    items.insert(items.end(), group.items.begin(), group.items.end());
  }
  return items;
}

TEST(LengthGroups, EveryItemComesOnceTheLongestFirst) {
  for (const size_t count : {1, 2, 7, 300}) {
    const std::vector<int64_t> lengths = random_lengths(count, 60, count);
    std::vector<size_t> expected(count);
    std::iota(expected.begin(), expected.end(), size_t{0});
    std::ranges::stable_sort(expected, std::greater<>(), [&](size_t item) { return lengths[item]; });
    EXPECT_EQ(items_of(group_by_length(lengths, 100, 3)), expected) << count << " items";
  }
}

TEST(LengthGroups, GroupsHoldNearlyTheSameAndComeOutEvenForTheWorkers) {
  for (const int64_t n_workers : {1, 2, 3, 8}) {
    for (const int64_t max_tokens : {100, 256, 1000}) {
      const std::vector<int64_t> lengths = random_lengths(2000, 40, 5);
      const auto groups = group_by_length(lengths, max_tokens, n_workers);
      const int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
      EXPECT_EQ(groups.size() % static_cast<size_t>(n_workers), 0U) << n_workers << " workers";
      EXPECT_LE(static_cast<int64_t>(groups.size()), total / max_tokens + n_workers) << "no more than it takes";
      for (const LengthGroup& group : groups) {
        const int64_t first = lengths[group.items.front()];
        const int64_t last = lengths[group.items.back()];
        EXPECT_LE(2 * group.tokens, 2 * max_tokens + first + last);
        EXPECT_LE(std::abs(group.tokens - total / static_cast<int64_t>(groups.size())), first + 1);
      }
    }
  }
}

TEST(LengthGroups, InOrderNothingIsSorted) {
  const std::vector<int64_t> lengths = random_lengths(200, 40, 6);
  std::vector<size_t> order(lengths.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});
  const auto groups = group_in_order(order, lengths, 100, 2);
  EXPECT_EQ(items_of(groups), order);
  for (const LengthGroup& group : groups) {
    EXPECT_LE(group.tokens, 100 + 40);
  }
}

TEST(LengthGroups, FewItemsAreSharedOut) {
  EXPECT_EQ(group_by_length(std::vector<int64_t>{10, 10, 10, 10}, 1000, 2).size(), 2U);
  EXPECT_EQ(group_by_length(std::vector<int64_t>{10, 10, 10, 10}, 1000, 4).size(), 4U);
  EXPECT_EQ(group_by_length(std::vector<int64_t>{10}, 1000, 4).size(), 1U);
  EXPECT_TRUE(group_by_length({}, 1000, 4).empty());
}

TEST(LengthGroups, LongItemsStandAloneAndEmptyOnesTakeNoRoom) {
  const auto groups = group_by_length(std::vector<int64_t>{0, 5, 5000, 0, 5}, 100, 2);
  ASSERT_GE(groups.size(), 2U);
  EXPECT_THAT(groups.front().items, testing::ElementsAre(2));
  EXPECT_THAT(items_of(groups), testing::ElementsAre(2, 1, 4, 0, 3));
  EXPECT_THAT(items_of(group_by_length(std::vector<int64_t>{0, 0, 0}, 100, 2)), testing::ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace dragoman::decoding
