#include "distributed/communicator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/random.h"
#include "base/worker_pool.h"
#include "distributed/thread_communicator.h"

namespace dragoman::distributed {
namespace {

TEST(PartOf, PartsCoverEverythingOnce) {
  for (const int64_t size : std::initializer_list<int64_t>{0, 1, 15, 16, 17, 1000, 12345, (int64_t{1} << 40) + 5}) {
    for (const int ranks : {1, 2, 3, 7}) {
      int64_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const Part part = part_of(size, rank, ranks);
        EXPECT_EQ(part.begin, next) << "size " << size << " rank " << rank << " of " << ranks;
        next = part.end;
      }
      EXPECT_EQ(next, size);
    }
  }
}

class Group : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Group, testing::Values(1, 2, 3, 4));

TEST_P(Group, AllReduceGivesEveryRankTheSum) {
  const int ranks = GetParam();
  auto group = ThreadCommunicator::make_group(ranks);
  base::WorkerPool pool(ranks);
  std::vector<std::vector<double>> values(static_cast<size_t>(ranks));
  pool.run([&](int rank) {
    for (int round = 0; round < 50; ++round) {
      auto& mine = values[static_cast<size_t>(rank)] = {1.0 + rank, 10.0 * round};
      group[static_cast<size_t>(rank)]->all_reduce_sum(mine);
    }
  });
  const double sum_of_ranks = ranks * (ranks + 1) / 2;
  for (const auto& mine : values) {
    EXPECT_EQ(mine, (std::vector<double>{sum_of_ranks, 490.0 * ranks}));
  }
}

// Ranks begin their sums in different orders, at different speeds, round after round.
TEST_P(Group, SumsBegunInAnyOrderEndAsTheSumInTheShares) {
  const int ranks = GetParam();
  constexpr int kTags = 7, kRounds = 30;
  constexpr int64_t kSize = 1000;
  auto group = ThreadCommunicator::make_group(ranks);
  base::WorkerPool pool(ranks);
  std::vector<std::vector<float>> values(static_cast<size_t>(ranks), std::vector<float>(kTags * kSize));
  std::vector<int> wrong(static_cast<size_t>(ranks));
  pool.run([&](int rank) {
    ThreadCommunicator& mine = *group[static_cast<size_t>(rank)];
    base::Random random(static_cast<uint64_t>(rank));
    const std::span<float> all = values[static_cast<size_t>(rank)];
    for (int round = 0; round < kRounds; ++round) {
      std::vector<int> tags{0, 1, 2, 3, 4, 5, 6};
      base::shuffle(tags.begin(), tags.end(), random);
      for (const int tag : tags) {
        const std::span<float> bucket = all.subspan(static_cast<size_t>(tag * kSize), kSize);
        std::ranges::fill(bucket, static_cast<float>((rank + 1) * (tag + round)));
        mine.begin_sum(bucket, tag);
      }
      mine.end_sums();
      const Part share = mine.share(kSize);
      for (int64_t index = 0; index < kTags * kSize; ++index) {
        const int64_t tag = index / kSize, at = index % kSize;
        const auto expected = static_cast<float>(ranks * (ranks + 1) / 2 * (tag + round));
        const bool in_share = at >= share.begin && at < share.end;
        wrong[static_cast<size_t>(rank)] += in_share && all[static_cast<size_t>(index)] != expected ? 1 : 0;
      }
      mine.barrier();
    }
  });
  EXPECT_EQ(wrong, std::vector<int>(static_cast<size_t>(ranks)));
}

TEST(ThreadCommunicator, SumsAreTakenInRankOrder) {
  auto group = ThreadCommunicator::make_group(3);
  base::WorkerPool pool(3);
  // (1e8 + 1) - 1e8 = 0 in float32, 1e8 - 1e8 + 1 = 1.
  std::vector<std::vector<float>> values{std::vector<float>(64, 1e8F), std::vector<float>(64, 1.0F),
                                         std::vector<float>(64, -1e8F)};
  pool.run([&](int rank) {
    group[static_cast<size_t>(rank)]->begin_sum(values[static_cast<size_t>(rank)], 0);
    group[static_cast<size_t>(rank)]->end_sums();
  });
  for (int rank = 0; rank < 3; ++rank) {
    const Part share = group[static_cast<size_t>(rank)]->share(64);
    EXPECT_EQ(values[static_cast<size_t>(rank)][static_cast<size_t>(share.begin)], 0.0F) << "rank " << rank;
  }
}

TEST(ThreadCommunicator, AFailedRankDoesNotLeaveTheOthersWaiting) {
  auto group = ThreadCommunicator::make_group(2);
  base::WorkerPool pool(2);
  try {
    pool.run([&](int rank) {
      if (rank == 1) {
        group[1]->abandon();
        base::fail(base::ErrorKind::kRuntime, "rank 1 broke");
      }
      group[0]->barrier();
    });
    FAIL() << "no error came out";
  } catch (const base::Error& error) {
    SUCCEED() << error.what();
  }
}

TEST(ThreadCommunicator, AFailedRankEndsTheSumsOfTheOthers) {
  auto group = ThreadCommunicator::make_group(2);
  base::WorkerPool pool(2);
  std::vector<float> values(32);
  EXPECT_THROW(pool.run([&](int rank) {
    if (rank == 1) {
      group[1]->abandon();
      return;
    }
    group[0]->begin_sum(values, 0);
    group[0]->end_sums();
  }),
               base::Error);
}

TEST(WorkerPool, RunsEveryRankAndRethrowsTheFirstError) {
  base::WorkerPool pool(3);
  std::vector<int> seen(3);
  for (int round = 0; round < 100; ++round) {
    pool.run([&](int rank) { ++seen[static_cast<size_t>(rank)]; });
  }
  EXPECT_EQ(seen, (std::vector<int>{100, 100, 100}));
  EXPECT_THROW(pool.run([](int rank) { base::check_argument(rank != 2, "rank {}", rank); }), base::Error);
  EXPECT_NO_THROW(pool.run([](int) {})) << "the pool stays usable after an error";
}

}  // namespace
}  // namespace dragoman::distributed
