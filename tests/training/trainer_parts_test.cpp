// The parts that the trainer puts together, each by itself.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "distributed/process_group.h"
#include "nn/linear.h"
#include "training/loss_watch.h"
#include "training/stop_rule.h"
#include "training/weight_average.h"

namespace dragoman::training {
namespace {

TEST(StopRule, ASignalCountsBeforeEverythingElse) {
  RunOptions options;
  options.max_steps = 10;
  RunState state;
  state.step = 10;
  EXPECT_EQ(reason_to_stop(options, state, {}, 0, 130), StopReason::kSignal);
  EXPECT_EQ(reason_to_stop(options, state, {}, 0, 0), StopReason::kMaxSteps);
  state.step = 9;
  EXPECT_EQ(reason_to_stop(options, state, {}, 0, 0), std::nullopt);
}

TEST(StopRule, PatienceEpochsAndTimeHaveLimitsOnlyIfAsked) {
  RunOptions options;
  options.patience = 0;
  RunState state;
  state.stale_validations = 1000;
  RunClock clock;
  clock.resume_at(3600.0);
  EXPECT_EQ(reason_to_stop(options, state, clock, 1000, 0), std::nullopt);
  options.patience = 3;
  EXPECT_EQ(reason_to_stop(options, state, clock, 0, 0), StopReason::kEarlyStop);
  state.stale_validations = 2;
  options.max_epochs = 4;
  EXPECT_EQ(reason_to_stop(options, state, clock, 3, 0), std::nullopt);
  EXPECT_EQ(reason_to_stop(options, state, clock, 4, 0), StopReason::kMaxEpochs);
  options.total_minutes = 60.0;
  EXPECT_EQ(reason_to_stop(options, state, clock, 0, 0), StopReason::kTotalTime);
  options.total_minutes = 0.0;
  options.max_minutes = 60.0;
  EXPECT_EQ(reason_to_stop(options, state, clock, 0, 0), std::nullopt) << "that hour was an earlier part's";
}

TEST(StopRule, ARunThatCanGoOnSaysSo) {
  for (const StopReason reason : {StopReason::kMaxSteps, StopReason::kMaxEpochs, StopReason::kTotalTime,
                                  StopReason::kMaxTime, StopReason::kEarlyStop, StopReason::kSignal}) {
    EXPECT_EQ(is_over(reason), stop_text(reason).find("run the same command") == std::string::npos);
  }
}

TEST(RunClock, GoesOnWhereAnEarlierPartStopped) {
  distributed::SingleProcess alone;
  RunClock clock;
  EXPECT_EQ(clock.seconds(), 0.0) << "not started";
  clock.resume_at(100.0);
  EXPECT_EQ(clock.agreed_seconds(), 100.0);
  clock.start();
  clock.agree(alone);
  EXPECT_GE(clock.agreed_seconds(), 100.0);
  EXPECT_GE(clock.seconds_here(), clock.agreed_wall_seconds_here());
}

TEST(RunClock, CountsProcessorTimeOfAWorkerIfAsked) {
  distributed::SingleProcess alone;
  RunClock clock, halved;
  clock.resume_at(100.0);
  clock.start(TimeSource::kProcessor, 1);
  halved.start(TimeSource::kProcessor, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_GE(clock.wall_seconds_here(), 0.03);
  EXPECT_LT(clock.seconds_here(), clock.wall_seconds_here()) << "who sleeps takes no processor time";
  while (clock.seconds_here() < 0.02) {
  }
  EXPECT_NEAR(halved.seconds(), 0.5 * clock.seconds_here(), 0.005);
  clock.agree(alone);
  EXPECT_GE(clock.agreed_seconds(), 100.02);
  EXPECT_GE(clock.agreed_wall_seconds_here(), 0.03);
}

class WeightAverageTest : public testing::Test {
 protected:
  WeightAverageTest() : layer_(parameters_, "layer", 3, 2) {
    parameters_.allocate();
    parameters_.initialize(1);
  }
  std::vector<float> values() const { return parameters_.values().to_vector<float>(); }

  nn::ParameterSet parameters_;
  nn::Linear layer_;
};

TEST_F(WeightAverageTest, FollowsFastAtFirstAndSlowlyLater) {
  for (const int64_t updates : {int64_t{1}, int64_t{1000}}) {
    WeightAverage average(parameters_, 0.9);
    const std::vector<float> before = values();
    std::vector<float> doubled = before;
    for (float& value : doubled) {
      value *= 2.0F;
    }
    parameters_.mutable_values().copy_from(tensor::Tensor::from(doubled, {static_cast<int64_t>(doubled.size())}));
    average.update(updates);
    const double decay = updates == 1 ? 2.0 / 11.0 : 0.9;
    const std::vector<float> seen = average.tensor().to_vector<float>();
    for (size_t i = 0; i < seen.size(); ++i) {
      EXPECT_NEAR(seen[i], decay * before[i] + (1.0 - decay) * doubled[i], 1e-6);
    }
    parameters_.mutable_values().copy_from(tensor::Tensor::from(before, {static_cast<int64_t>(before.size())}));
  }
}

TEST_F(WeightAverageTest, AScopeSwapsAndSwapsBack) {
  WeightAverage average(parameters_, 0.5);
  const std::vector<float> weights = values(), averaged(weights.size(), 7.0F);
  tensor::Tensor(average.tensor()).copy_from(tensor::Tensor::from(averaged, {static_cast<int64_t>(averaged.size())}));
  {
    const WeightAverage::Scope scope(average);
    EXPECT_EQ(values(), averaged);
  }
  EXPECT_EQ(values(), weights);
  EXPECT_EQ(average.tensor().to_vector<float>(), averaged);
}

TEST_F(WeightAverageTest, IsNothingWhenOff) {
  WeightAverage average(parameters_, 0.0);
  const std::vector<float> weights = values();
  average.update(1);
  const WeightAverage::Scope scope(average);
  EXPECT_FALSE(average.is_on());
  EXPECT_EQ(values(), weights);
}

TEST(LossWatch, WarnsOnceWhenGuessingWouldBeBetterForThreeWindows) {
  LossWatch watch(100);  // guessing costs 4.61 nats
  EXPECT_EQ(watch.warning(5.0, 100), "") << "early losses may be high";
  EXPECT_EQ(watch.warning(5.0, 250), "");
  EXPECT_EQ(watch.warning(5.0, 300), "");
  EXPECT_NE(watch.warning(5.0, 350).find("5.00 nats a token at step 350"), std::string::npos);
  EXPECT_EQ(watch.warning(5.0, 400), "") << "said once";
  EXPECT_EQ(watch.warning(4.0, 450), "");
  EXPECT_EQ(watch.warning(5.0, 500), "");
  EXPECT_EQ(watch.warning(5.0, 550), "");
  EXPECT_NE(watch.warning(5.0, 600), "") << "after it had been well in between";
}

}  // namespace
}  // namespace dragoman::training
