// What a run is told before it begins.
#include "training/run_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "training/presets.h"
#include "training/run_progress.h"

namespace dragoman::training {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> warnings_of(const std::string& preset, uint64_t target_tokens) {
  TrainOptions options = preset_options(preset);
  options.precision = kernels::Precision::kFloat32;
  data::CorpusStatistics corpus;
  corpus.target_tokens = target_tokens;
  return run_warnings(options, 2'605'056, corpus);
}

TEST(RunWarnings, ATinyPresetIsNotToldToTakeASmallerOne) {
  for (const std::string preset : {"tiny", "tiny-prenorm", "tiny-hour", "tiny-hour-prenorm"}) {
    EXPECT_THAT(warnings_of(preset, 459'316), ElementsAre(Not(HasSubstr("smaller preset")))) << preset;
  }
  for (const std::string preset : {"gru-mini", "lstm-mini", "conv-mini", "t5-mini", "gpt-mini"}) {
    EXPECT_THAT(warnings_of(preset, 459'316), ElementsAre(HasSubstr("by heart; more dropout"))) << preset;
  }
  EXPECT_THAT(warnings_of("tiny", 459'316), ElementsAre(HasSubstr("--preset tiny-hour")));
  EXPECT_THAT(warnings_of("tiny-hour", 459'316), ElementsAre(HasSubstr("by heart; more text")));
  EXPECT_THAT(warnings_of("base", 459'316), ElementsAre(HasSubstr("a smaller preset")));
  EXPECT_THAT(warnings_of("base", 1'000'000'000), IsEmpty());
}

TEST(RunProgress, OfTwoLimitsOnTimeTheNearerOneIsCounted) {
  TrainOptions options;
  RunState state;
  RunClock clock;
  clock.resume_at(120.0);  // two minutes in earlier parts
  clock.start();
  const auto line = [&] { return RunProgress(options, state, clock, 100).line(); };
  EXPECT_EQ(line().max_minutes, 0.0);
  options.run.total_minutes = 10.0;
  EXPECT_EQ(line().max_minutes, 10.0);
  EXPECT_NEAR(line().minutes, 2.0, 0.5);
  options.run.max_minutes = 3.0;
  EXPECT_EQ(line().max_minutes, 3.0);
  EXPECT_NEAR(line().minutes, 0.0, 0.5);
  options.run.total_minutes = 4.0;
  EXPECT_EQ(line().max_minutes, 4.0);
}

}  // namespace
}  // namespace dragoman::training
