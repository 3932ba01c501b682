#include "support/mpirun.h"
#include "support/training_runs.h"

namespace dragoman {
namespace {

class Drift : public test_support::TrainingRuns {};

TEST_F(Drift, EndsTheRunAndNamesTheRank) {
  DRAGOMAN_NEEDS_MPIRUN();
  test_support::RankRun run(program_.folder(), 3, {DRAGOMAN_DRIFT_RANKS, program_.folder().string(), "1"});
  EXPECT_EQ(run.wait(), 1) << run.errors();
  EXPECT_NE(run.errors().find("dragoman: train: the weights of rank 1 ("), std::string::npos) << run.errors();
  EXPECT_NE(run.errors().find("differ from those of the other ranks at step 3 "), std::string::npos) << run.errors();
  EXPECT_EQ(newest_step("model"), 0) << "nothing of it was saved";
}

TEST_F(Drift, IsNotSeenWhereThereIsNone) {
  DRAGOMAN_NEEDS_MPIRUN();
  test_support::RankRun run(program_.folder(), 3, {DRAGOMAN_DRIFT_RANKS, program_.folder().string()});
  EXPECT_EQ(run.wait(), 0) << run.errors();
  EXPECT_EQ(newest_step("model"), 10);
}

}  // namespace
}  // namespace dragoman
