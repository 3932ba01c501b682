#include "data/batch.h"

#include <gmock/gmock.h>

#include <map>
#include <numeric>

#include "data/vocabulary/vocabulary.h"
#include "data_test_support.h"

namespace dragoman::data {
namespace {

std::vector<SentencePair> random_pairs(size_t count, uint64_t longest, base::Random& random) {
  std::vector<SentencePair> pairs(count);
  for (size_t i = 0; i < count; ++i) {
    pairs[i].line = i;
    pairs[i].source.resize(1 + random.below(longest));
    pairs[i].target.resize(1 + random.below(longest));
    for (int32_t& id : pairs[i].source) {
      id = static_cast<int32_t>(4 + random.below(100));
    }
    for (int32_t& id : pairs[i].target) {
      id = static_cast<int32_t>(4 + random.below(100));
    }
    pairs[i].source.push_back(kEosId);
  }
  return pairs;
}

TEST(Batch, BatchesOfOneFormDifferInIdsAlone) {
  Batch left, right, longer;
  append(left, {7, {10, 11, kEosId}, {20, 21}});
  append(right, {8, {12, 13, kEosId}, {22, 23}});
  append(longer, {8, {12, 13, kEosId}, {22, 23, 24}});
  EXPECT_TRUE(have_one_form(left, right));
  EXPECT_FALSE(have_one_form(left, longer));
  right.first_target_row = 3;
  EXPECT_FALSE(have_one_form(left, right));
}

// The pair at place `b` of the batch, read back; checks the bos and eos around the target.
SentencePair pair_of(const Batch& batch, int32_t b) {
  const auto rows = [b](const std::vector<int32_t>& ids, const std::vector<int32_t>& offsets) {
    return std::vector<int32_t>(ids.begin() + offsets[static_cast<size_t>(b)],
                                ids.begin() + offsets[static_cast<size_t>(b) + 1]);
  };
  SentencePair pair;
  pair.line = batch.lines[static_cast<size_t>(b)];
  pair.source = rows(batch.source, batch.source_offsets);
  std::vector<int32_t> input = rows(batch.target_input, batch.target_offsets);
  pair.target = rows(batch.target_output, batch.target_offsets);
  EXPECT_EQ(input.front(), kBosId);
  EXPECT_EQ(pair.target.back(), kEosId);
  input.erase(input.begin());
  pair.target.pop_back();
  EXPECT_EQ(input, pair.target);
  return pair;
}

TEST(Batch, PacksWithoutPadding) {
  Batch batch;
  append(batch, {7, {10, 11, kEosId}, {20, 21}});
  append(batch, {3, {12, kEosId}, {22}});
  EXPECT_EQ(batch.source, (std::vector<int32_t>{10, 11, 3, 12, 3}));
  EXPECT_EQ(batch.source_offsets, (std::vector<int32_t>{0, 3, 5}));
  EXPECT_EQ(batch.target_input, (std::vector<int32_t>{2, 20, 21, 2, 22}));
  EXPECT_EQ(batch.target_output, (std::vector<int32_t>{20, 21, 3, 22, 3}));
  EXPECT_EQ(batch.target_offsets, (std::vector<int32_t>{0, 3, 5}));
  EXPECT_EQ(batch.lines, (std::vector<uint64_t>{7, 3}));
  EXPECT_EQ(batch.sentences(), 2);
}

TEST(Batch, CutBatchesHoldEachPairOnceWithinTheBudget) {
  base::Random random(21);
  for (int trial = 0; trial < 200; ++trial) {
    const uint64_t longest = 1 + random.below(30);
    const auto pairs = random_pairs(1 + random.below(200), longest, random);
    const auto budget = static_cast<int64_t>(longest + 1 + random.below(200));
    const auto batches = cut_batches(pairs, budget);
    std::map<uint64_t, int> seen;
    for (const Batch& batch : batches) {
      ASSERT_LE(std::max(batch.source_tokens(), batch.target_tokens()), budget);
      ASSERT_FALSE(batch.empty());
      for (int32_t b = 0; b < batch.sentences(); ++b) {
        const SentencePair pair = pair_of(batch, b);
        ++seen[pair.line];
        ASSERT_EQ(pair.source, pairs[pair.line].source);
        ASSERT_EQ(pair.target, pairs[pair.line].target);
      }
    }
    ASSERT_EQ(seen.size(), pairs.size());
    for (const auto& [line, times] : seen) {
      ASSERT_EQ(times, 1) << "line " << line;
    }
  }
}

TEST(Batch, CutBatchesAreEvenedOut) {
  base::Random random(22);
  const auto batches = cut_batches(random_pairs(1000, 10, random), 500);
  int32_t fewest = 500, most = 0;
  for (const Batch& batch : batches) {
    fewest = std::min(fewest, std::max(batch.source_tokens(), batch.target_tokens()));
    most = std::max(most, std::max(batch.source_tokens(), batch.target_tokens()));
  }
  EXPECT_GT(fewest, most * 0.8) << "most " << most;
}

TEST(Batch, APairAboveTheBudgetStandsAlone) {
  base::Random random(23);
  auto pairs = random_pairs(5, 5, random);
  pairs[2].target.assign(1000, 9);
  const auto batches = cut_batches(pairs, 10);
  const auto alone = std::count_if(batches.begin(), batches.end(), [](const Batch& batch) {
    return batch.target_tokens() == 1001 && batch.sentences() == 1;
  });
  EXPECT_EQ(alone, 1);
  EXPECT_TRUE(cut_batches({}, 10).empty());
}

TEST(Batch, ShardsJoinedAreTheBatch) {
  base::Random random(24);
  for (int trial = 0; trial < 200; ++trial) {
    const uint64_t longest = 1 + random.below(20);
    Batch batch;
    for (const SentencePair& pair : random_pairs(1 + random.below(40), longest, random)) {
      append(batch, pair);
    }
    batch.epoch = 3;
    const int shards = 1 + static_cast<int>(random.below(6));
    const BatchShare share = split(batch, shards);
    const std::vector<Batch>& parts = share.shards;
    ASSERT_EQ(share.source_tokens, batch.source_tokens());
    ASSERT_EQ(share.target_tokens, batch.target_tokens());
    ASSERT_EQ(parts.size(), static_cast<size_t>(shards));
    Batch joined;
    for (const Batch& part : parts) {
      ASSERT_EQ(part.first_sentence, joined.sentences());
      ASSERT_EQ(part.first_source_row, joined.source_tokens());
      ASSERT_EQ(part.first_target_row, joined.target_tokens());
      ASSERT_EQ(part.epoch, 3u);
      for (int32_t b = 0; b < part.sentences(); ++b) {
        append(joined, pair_of(part, b));
      }
      const int64_t tokens = part.source_tokens() + part.target_tokens();
      const int64_t fair = (batch.source_tokens() + batch.target_tokens()) / shards;
      ASSERT_LE(std::abs(tokens - fair), static_cast<int64_t>(2 * (longest + 1)))
          << "each of the two cuts may be off by half of a longest pair";
    }
    ASSERT_EQ(joined.source, batch.source);
    ASSERT_EQ(joined.source_offsets, batch.source_offsets);
    ASSERT_EQ(joined.target_input, batch.target_input);
    ASSERT_EQ(joined.target_output, batch.target_output);
    ASSERT_EQ(joined.target_offsets, batch.target_offsets);
    ASSERT_EQ(joined.lines, batch.lines);
  }
}

TEST(Batch, MoreShardsThanSentencesLeaveSomeEmpty) {
  Batch batch;
  append(batch, {0, {10, kEosId}, {20}});
  const std::vector<Batch> parts = split(batch, 3).shards;
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].sentences() + parts[1].sentences() + parts[2].sentences(), 1);
  for (const Batch& part : parts) {
    EXPECT_EQ(part.source_offsets.front(), 0);
  }
  error_of(base::ErrorKind::kRuntime, [&] { static_cast<void>(split(batch, 0)); });
}

}  // namespace
}  // namespace dragoman::data
