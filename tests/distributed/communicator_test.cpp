#include "distributed/communicator.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/worker_pool.h"

namespace dragoman::distributed {
namespace {

TEST(PartOf, PartsCoverEverythingOnce) {
  for (const int64_t size : {0, 1, 15, 16, 17, 1000, 12345}) {
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
  std::vector<std::vector<float>> values(static_cast<size_t>(ranks), std::vector<float>(10001));
  pool.run([&](int rank) {
    auto& mine = values[static_cast<size_t>(rank)];
    for (int round = 0; round < 5; ++round) {
      for (size_t index = 0; index < mine.size(); ++index) {
        mine[index] = static_cast<float>(index) * static_cast<float>(rank + 1);
      }
      group[static_cast<size_t>(rank)]->all_reduce_sum(std::span<float>(mine));
    }
  });
  const auto factor = static_cast<float>(ranks * (ranks + 1) / 2);
  for (const auto& mine : values) {
    for (size_t index = 0; index < mine.size(); ++index) {
      ASSERT_EQ(mine[index], static_cast<float>(index) * factor);
    }
  }
}

TEST_P(Group, ReduceScatterLeavesEachRankItsPartOfTheSum) {
  const int ranks = GetParam();
  auto group = ThreadCommunicator::make_group(ranks);
  base::WorkerPool pool(ranks);
  std::vector<std::vector<float>> values(static_cast<size_t>(ranks), std::vector<float>(5000, 1.5F));
  pool.run([&](int rank) {
    group[static_cast<size_t>(rank)]->reduce_scatter_sum(std::span<float>(values[static_cast<size_t>(rank)]));
  });
  for (int rank = 0; rank < ranks; ++rank) {
    const Part part = part_of(5000, rank, ranks);
    for (int64_t index = part.begin; index < part.end; ++index) {
      ASSERT_EQ(values[static_cast<size_t>(rank)][static_cast<size_t>(index)], 1.5F * static_cast<float>(ranks));
    }
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
