#include "training/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace dragoman::training {
namespace {

TEST(Schedule, NoamPeaksAtThePapersRate) {
  const ScheduleOptions base{ScheduleKind::kNoam, 1.0, 4000, 100'000, 0.0, 512};
  EXPECT_NEAR(learning_rate(base, 4000), 6.99e-4, 1e-6) << "512^-0.5 * 4000^-0.5";
  EXPECT_NEAR(learning_rate(base, 1), 1.0 / std::sqrt(512.0) * std::pow(4000.0, -1.5), 1e-12);
  EXPECT_NEAR(learning_rate(base, 16000), 0.5 * learning_rate(base, 4000), 1e-9);
}

TEST(Schedule, EveryKindRisesInALineDuringWarmup) {
  for (const auto kind : {ScheduleKind::kNoam, ScheduleKind::kInverseSqrt, ScheduleKind::kCosine,
                          ScheduleKind::kCosineTime, ScheduleKind::kConstant}) {
    const ScheduleOptions options{kind, 0.01, 100, 1000, 0.1, 64, 60.0};
    EXPECT_NEAR(learning_rate(options, 50), 0.5 * learning_rate(options, 100), 1e-12) << name_of(kind);
    EXPECT_EQ(schedule_kind_from(name_of(kind)), kind);
  }
}

TEST(Schedule, FallsAsNamed) {
  const ScheduleOptions inverse{ScheduleKind::kInverseSqrt, 0.01, 100, 1000, 0.1, 64};
  EXPECT_NEAR(learning_rate(inverse, 400), 0.005, 1e-12);
  const ScheduleOptions cosine{ScheduleKind::kCosine, 0.01, 100, 1100, 0.1, 64};
  EXPECT_NEAR(learning_rate(cosine, 600), 0.0055, 1e-12) << "half-way: the mean of peak and end";
  EXPECT_NEAR(learning_rate(cosine, 1100), 0.001, 1e-12);
  EXPECT_NEAR(learning_rate(cosine, 5000), 0.001, 1e-12) << "stays at the end value";
  const ScheduleOptions timed{ScheduleKind::kCosineTime, 0.01, 100, 1100, 0.1, 64, 600.0};
  EXPECT_NEAR(learning_rate(timed, 100, 0.0), 0.01, 1e-12);
  EXPECT_NEAR(learning_rate(timed, 200, 300.0), 0.0055, 1e-12) << "half the time: the mean of peak and end";
  EXPECT_NEAR(learning_rate(timed, 50, 300.0), 0.00275, 1e-12) << "warm-up, and half the time is over";
  EXPECT_NEAR(learning_rate(timed, 9000, 601.0), 0.001, 1e-12) << "stays at the end value";
  const ScheduleOptions constant{ScheduleKind::kConstant, 0.01, 0, 1000, 0.1, 64};
  EXPECT_EQ(learning_rate(constant, 1), 0.01);
}

TEST(Schedule, RefusesWhatMakesNoSense) {
  EXPECT_THROW((ScheduleOptions{ScheduleKind::kNoam, 1.0, 0, 100, 0.0, 64}.check()), base::Error);
  EXPECT_THROW((ScheduleOptions{ScheduleKind::kConstant, 0.0, 0, 100, 0.0, 64}.check()), base::Error);
  EXPECT_THROW((ScheduleOptions{ScheduleKind::kCosineTime, 1.0, 0, 100, 0.0, 64}.check()), base::Error)
      << "no time is named";
  EXPECT_THROW(schedule_kind_from("linear"), base::Error);
}

}  // namespace
}  // namespace dragoman::training
