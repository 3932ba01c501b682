#include "training/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace dragoman::training {
namespace {

TEST(Checkpoint, LastAndBestAreFound) {
  const test_support::TemporaryFolder folder;
  const auto step = [&](int64_t number) { return checkpoint_folder(folder.path(), number); };
  for (const int64_t number : {1, 2, 3, 10}) {
    std::filesystem::create_directories(step(number));
  }
  const std::map<int64_t, double> scores = {{1, 5.0}, {2, 9.0}, {3, -1.0}, {4, 99.0}};  // step 4 is gone
  EXPECT_THAT(last_checkpoints(folder.path(), 2), testing::ElementsAre(step(3), step(10)));
  EXPECT_THAT(best_checkpoints(folder.path(), 1, scores), testing::ElementsAre(step(2)));
  EXPECT_THAT(best_checkpoints(folder.path(), 3, scores), testing::ElementsAre(step(3), step(1), step(2)))
      << "one without a score is worse than all others";
  EXPECT_THAT(best_checkpoints(folder.path(), 100, scores), testing::SizeIs(4));
  EXPECT_THAT(last_checkpoints(folder.path() / "none", 3), testing::IsEmpty());
  EXPECT_TRUE(checkpoint_scores(folder.path() / "none").empty());
}

}  // namespace
}  // namespace dragoman::training
