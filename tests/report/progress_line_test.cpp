#include "report/progress_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace dragoman::report {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Progress sample(int64_t step = 1200) {
  return {.step = step,
          .max_steps = 100'000,
          .epoch = 3.254,
          .loss = 3.41214,
          .tokens_per_second = 12345.4,
          .learning_rate = 4.2e-4,
          .seconds_left = 7500};
}

/// What a terminal shows after `bytes`: knows line feed, carriage return and "erase to the end of the line".
std::vector<std::string> screen(const std::string& bytes) {
  std::vector<std::string> lines(1);
  size_t column = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\n') {
      lines.emplace_back();
      column = 0;
    } else if (bytes[i] == '\r') {
      column = 0;
    } else if (bytes.compare(i, 3, "\x1b[K") == 0) {
      lines.back().resize(column);
      i += 2;
    } else {
      lines.back().resize(std::max(lines.back().size(), column + 1));
      lines.back()[column++] = bytes[i];
    }
  }
  return lines;
}

struct FakeTime {
  double now = 100.0;
  ProgressLineOptions options(bool live) {
    ProgressLineOptions result;
    result.live = live;
    result.clock = [this] { return now; };
    return result;
  }
};

TEST(FormatProgress, ALimitOnTimeIsCountedInMinutesAndNotInSteps) {
  Progress timed = sample(701);
  timed.max_steps = 1'000'000;
  timed.minutes = 3.24;
  timed.max_minutes = 10;
  EXPECT_THAT(format_progress(timed), testing::StartsWith("minute 3.2/10  step 701  epoch 3.25"));
}

TEST(FormatDuration, UsesTwoUnitsWithAFixedSmallerOne) {
  EXPECT_EQ(format_duration(0), "0 s");
  EXPECT_EQ(format_duration(59.4), "59 s");
  EXPECT_EQ(format_duration(59.6), "1 min 00 s");
  EXPECT_EQ(format_duration(200), "3 min 20 s");
  EXPECT_EQ(format_duration(7500), "2 h 05 min");
  EXPECT_EQ(format_duration(3 * 86400 + 4 * 3600), "3 d 04 h");
}

TEST(FormatDuration, SaysUnknownForWhatIsNoTime) {
  for (const double seconds : {-1.0, kNan, std::numeric_limits<double>::infinity(), 1e30}) {
    EXPECT_EQ(format_duration(seconds), "unknown") << seconds;
  }
}

TEST(FormatCount, GroupsByThree) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(-1234567), "-1,234,567");
  EXPECT_EQ(format_count(-123), "-123");
}

TEST(FormatProgress, ShowsEveryField) {
  EXPECT_EQ(format_progress(sample()),
            "step 1,200/100,000  epoch 3.25  loss 3.4121  12,345 tokens/s  lr 4.20e-04  2 h 05 min left");
}

TEST(FormatProgress, LeavesOutWhatIsNotKnown) {
  Progress progress = sample();
  progress.max_steps = 0;
  progress.seconds_left = kNan;
  EXPECT_EQ(format_progress(progress), "step 1,200  epoch 3.25  loss 3.4121  12,345 tokens/s  lr 4.20e-04");
}

TEST(FormatProgress, ShowsTheDivergenceOfRdropBesideTheLoss) {
  Progress progress = sample();
  progress.kl = 0.04567;
  EXPECT_THAT(format_progress(progress), HasSubstr("loss 3.4121  kl 0.0457  12,345 tokens/s"));
}

TEST(FormatProgress, ShowsNumbersThatAreNotFinite) {
  Progress progress = sample();
  progress.loss = kNan;
  progress.tokens_per_second = std::numeric_limits<double>::infinity();
  progress.skipped_updates = 3;
  EXPECT_THAT(format_progress(progress), HasSubstr("loss nan  inf tokens/s"));
  EXPECT_THAT(format_progress(progress), HasSubstr("3 skipped"));
}

TEST(FormatProgress, NeverExceedsTheWidthAndKeepsWholeFields) {
  const std::string whole = format_progress(sample());
  for (int columns = 1; columns < 120; ++columns) {
    const std::string line = format_progress(sample(), columns);
    EXPECT_LE(line.size(), static_cast<size_t>(columns));
    EXPECT_EQ(whole.substr(0, line.size()), line) << "columns " << columns;
  }
  EXPECT_EQ(format_progress(sample(), 120), whole);
}

TEST(ProgressLine, RewritesOneLineOnATerminal) {
  FakeTime time;
  std::ostringstream out;
  ProgressLine line(out, time.options(true));
  line.update(sample(1000));
  time.now += 1;
  line.update(sample(7));
  EXPECT_THAT(screen(out.str()), testing::ElementsAre(format_progress(sample(7))));
}

TEST(ProgressLine, RedrawsAtMostFiveTimesASecond) {
  FakeTime time;
  std::ostringstream out;
  {
    ProgressLine line(out, time.options(true));
    for (int step = 0; step < 1000; ++step, time.now += 0.001) {
      line.update(sample(step));
    }
  }
  const std::string bytes = out.str();
  const auto draws = std::count(bytes.begin(), bytes.end(), '\r');
  EXPECT_GE(draws, 5);
  EXPECT_LE(draws, 6);
  EXPECT_THAT(screen(bytes), testing::ElementsAre(format_progress(sample(999)), "")) << "the end shows the last state";
}

TEST(ProgressLine, PrintsMessagesAboveTheLiveLine) {
  FakeTime time;
  std::ostringstream out;
  ProgressLine line(out, time.options(true));
  line.message("first");
  line.update(sample(1));
  line.message("a message");
  line.message("two\nlines\n");
  EXPECT_THAT(screen(out.str()),
              testing::ElementsAre("first", "a message", "two", "lines", format_progress(sample(1))));
  line.finish();
  line.message("after");
  EXPECT_THAT(screen(out.str()),
              testing::ElementsAre("first", "a message", "two", "lines", format_progress(sample(1)), "after", ""));
}

TEST(ProgressLine, KeepsTheLastColumnOfTheTerminalFree) {
  FakeTime time;
  std::ostringstream out;
  ProgressLineOptions options = time.options(true);
  options.columns = [] { return 40; };
  ProgressLine line(out, options);
  line.update(sample());
  EXPECT_LT(screen(out.str()).back().size(), 40U);
}

TEST(ProgressLine, WritesPlainLinesByTime) {
  FakeTime time;
  std::ostringstream out;
  {
    ProgressLine line(out, time.options(false));
    for (int step = 1; step <= 70; ++step, time.now += 1.0) {
      line.update(sample(step));
    }
  }
  EXPECT_THAT(screen(out.str()), testing::ElementsAre(format_progress(sample(1)), format_progress(sample(31)),
                                                      format_progress(sample(61)), format_progress(sample(70)), ""));
  EXPECT_THAT(out.str(), Not(HasSubstr("\x1b")));
  EXPECT_THAT(out.str(), Not(HasSubstr("\r")));
}

TEST(ProgressLine, WritesPlainLinesAtFixedStepsOnceEach) {
  FakeTime time;
  std::ostringstream out;
  ProgressLineOptions options = time.options(false);
  options.plain_interval_seconds = 0;
  options.plain_every_steps = 50;
  {
    ProgressLine line(out, options);
    for (int step = 50; step <= 150; ++step) {
      line.update(sample(step));
      line.update(sample(step));
    }
  }
  EXPECT_THAT(screen(out.str()), testing::ElementsAre(format_progress(sample(50)), format_progress(sample(100)),
                                                      format_progress(sample(150)), ""));
}

}  // namespace
}  // namespace dragoman::report
