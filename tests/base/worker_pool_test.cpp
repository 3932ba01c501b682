#include "base/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace dragoman::base {
namespace {

using std::chrono::microseconds;

class WorkerPools : public testing::TestWithParam<microseconds> {};
INSTANTIATE_TEST_SUITE_P(AsleepAndAwake, WorkerPools, testing::Values(microseconds(0), microseconds(500)));

TEST_P(WorkerPools, EachRankRunsOnceARound) {
  for (const int size : {1, 2, 5}) {
    WorkerPool pool(size, GetParam());
    std::vector<int> runs(static_cast<size_t>(size));
    for (int round = 1; round <= 300; ++round) {
      pool.run([&](int rank) { ++runs[static_cast<size_t>(rank)]; });
      ASSERT_THAT(runs, testing::Each(round)) << size << " workers, seen when run returned";
    }
  }
}

TEST_P(WorkerPools, RoundsFarApartWakeThoseAsleep) {
  WorkerPool pool(3, GetParam());
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(microseconds(2000));  // in which nothing happens: the workers fall asleep
    std::atomic<int> runs = 0;
    pool.run([&](int) { ++runs; });
    EXPECT_EQ(runs, 3);
  }
}

TEST_P(WorkerPools, AnExceptionReachesTheCallerAndThePoolGoesOn) {
  WorkerPool pool(3, GetParam());
  for (int thrower = 0; thrower < 3; ++thrower) {
    const auto task = [&](int rank) { rank == thrower ? throw std::runtime_error("of one rank") : void(); };
    EXPECT_THROW(pool.run(task), std::runtime_error) << "rank " << thrower;
  }
  std::atomic<int> runs = 0;
  pool.run([&](int) { ++runs; });
  EXPECT_EQ(runs, 3);
}

}  // namespace
}  // namespace dragoman::base
