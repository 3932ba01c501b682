#include "report/attention_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace dragoman::report {
namespace {

HeatMap map_of(float weight) {
  return {"Cross-attention", "target", "source", {"Das", "\"Tier\""}, {"The"}, {weight, 1.0F - weight}};
}

std::vector<int64_t> steps_of(const std::vector<AttentionSet>& sets) {
  std::vector<int64_t> steps;
  for (const AttentionSet& set : sets) {
    steps.push_back(set.step);
  }
  return steps;
}

class AttentionHistoryTest : public testing::Test {
 protected:
  std::vector<AttentionSet> stored() const { return parse_attention_sets(base::read_file(path_), "attention.json"); }

  test_support::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / kAttentionHistoryName;
};

TEST_F(AttentionHistoryTest, TheFileHoldsWhatWasAdded) {
  AttentionHistory history(path_, 0);
  history.add({50, {map_of(0.25F), map_of(NAN)}});
  history.add({100, {}});  // nothing to replay
  ASSERT_EQ(steps_of(stored()), std::vector<int64_t>{50});
  const HeatMap map = stored()[0].maps[0];
  EXPECT_EQ(map.row_labels, (std::vector<std::string>{"Das", "\"Tier\""}));
  EXPECT_EQ(map.column_axis, "source");
  EXPECT_THAT(map.weights, testing::ElementsAre(testing::FloatEq(0.25F), testing::FloatEq(0.75F)));
  EXPECT_EQ(stored()[0].maps[1].weights[0], 0.0F) << "a weight that is no number";
}

TEST_F(AttentionHistoryTest, AResumedRunForgetsWhatItWillWriteAgain) {
  AttentionHistory first(path_, 0);
  for (const int64_t step : {50, 100, 150}) {
    first.add({step, {map_of(0.5F)}});
  }
  EXPECT_EQ(steps_of(AttentionHistory(path_, 100).sets()), (std::vector<int64_t>{50, 100}));
  EXPECT_TRUE(AttentionHistory(path_, 0).sets().empty()) << "a new run";
}

TEST_F(AttentionHistoryTest, ALongRunKeepsTheFirstAndTheNewestSet) {
  AttentionHistory history(path_, 0);
  for (int64_t step = 1; step <= 300; ++step) {
    history.add({step, {map_of(0.5F)}});
    ASSERT_LE(history.sets().size(), AttentionHistory::kMostSets);
    ASSERT_EQ(history.sets().front().step, 1);
    ASSERT_EQ(history.sets().back().step, step);
  }
  EXPECT_GE(history.sets().size(), AttentionHistory::kMostSets / 2);
}

TEST_F(AttentionHistoryTest, ADamagedFileCountsAsNoneAndAMapMustFit) {
  base::write_file_atomic(path_, "[{\"step\": 5");
  EXPECT_TRUE(AttentionHistory(path_, 50).sets().empty());
  HeatMap map = map_of(0.5F);
  map.weights.pop_back();
  const std::string text = attention_sets_json({{50, {map}}});
  test_support::expect_error(base::ErrorKind::kBadData, {"attention.json", "1 weights, but 2 rows and 1 columns"},
                             [&] { (void)parse_attention_sets(text, "attention.json"); });
}

}  // namespace
}  // namespace dragoman::report
