#include "support/mpirun.h"

#include "base/error.h"
#include "distributed/idle_watch.h"
#include "distributed/join_processes.h"
#include "distributed/process_group.h"
#include "distributed/rank_watch.h"
#include "support/temporary_folder.h"

namespace dragoman::distributed {
namespace {

TEST(Mpi, RanksTalkAndSumInOrder) {
  DRAGOMAN_NEEDS_MPIRUN();
  const test_support::TemporaryFolder folder;
  for (const int ranks : {2, 3}) {
    test_support::RankRun run(folder.path(), ranks, {DRAGOMAN_MPI_RANKS});
    EXPECT_EQ(run.wait(), 0) << run.errors();
  }
}

TEST(Mpi, RanksThatWaitForEachOtherEnd) {
  DRAGOMAN_NEEDS_MPIRUN();
  const test_support::TemporaryFolder folder;
  test_support::RankRun run(folder.path(), 3, {DRAGOMAN_MPI_RANKS, "disagree"});
  EXPECT_NE(run.wait(), 0);
  EXPECT_NE(run.errors().find("all 3 processes have waited for each other for 1 s"), std::string::npos) << run.errors();
}

TEST(Mpi, AProcessStartedAloneIsAlone) {
  EXPECT_EQ(join_processes({})->size(), 1);
  EXPECT_THROW(join_processes({.timeout_seconds = 0.0}), base::Error);
}

TEST(RankWatch, RankZeroWatchesAllAndTheyWatchRankZero) {
  RankWatch leader(0, 3, 20.0, 0.0), other(2, 3, 20.0, 0.0);
  for (double now = 1.0; now <= 20.0; ++now) {
    leader.heard(2, now);
    EXPECT_EQ(leader.silent(now), std::vector<int>()) << now;
    EXPECT_EQ(other.silent(now), std::vector<int>()) << now;
  }
  EXPECT_EQ(leader.silent(20.5), std::vector<int>{1});
  EXPECT_EQ(other.silent(21.5), std::vector<int>()) << "rank 1 speaks first";
  EXPECT_EQ(other.silent(22.5), std::vector<int>{0});
}

TEST(IdleWatch, OnlyWaitingWithoutMotionAndWorkIsIdle) {
  struct Life {
    const char* name;
    bool waits;
    bool moves;
    double busy_share;
    double expected;
  };
  for (const Life& life : {Life{"waits", true, false, 0.001, 10.0},
                           {"computes and waits", true, false, 0.5, 0.2},
                           {"computes", false, false, 1.0, 0.0},
                           {"sleeps, but waits for nobody", false, false, 0.0, 0.0},
                           {"gets what it waits for", true, true, 0.0, 0.0}}) {
    IdleWatch watch(0.0, 0.0);
    double idle = 0.0;
    for (int i = 1; i <= 100; ++i) {
      idle = watch.idle(0.1 * i, life.busy_share * 0.1 * i, life.waits, life.moves);
    }
    EXPECT_NEAR(idle, life.expected, 0.2) << life.name;
  }
  IdleWatch stopped(0.0, 0.0);
  EXPECT_EQ(stopped.idle(60.0, 0.0, true, false), 0.0) << "it was stopped itself";
}

TEST(RankWatch, AWatcherThatWasStoppedItselfAccusesNobody) {
  RankWatch leader(0, 2, 20.0, 0.0);
  EXPECT_EQ(leader.silent(60.0), std::vector<int>());
  for (double now = 61.0; now < 80.0; ++now) {
    EXPECT_EQ(leader.silent(now), std::vector<int>()) << now;
  }
  EXPECT_EQ(leader.silent(81.0), std::vector<int>{1}) << "still silent after that";
}

}  // namespace
}  // namespace dragoman::distributed
