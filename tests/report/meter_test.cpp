#include "report/meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "report/terminal.h"

namespace dragoman::report {
namespace {

using testing::HasSubstr;
using testing::Not;

WorkDone sample() {
  return {
      .task = "translating", .unit = "lines", .done = 12'000, .total = 20'000, .seconds = 10.0, .done_seconds = 10.0};
}

TEST(FormatMeter, ShowsBarCountsRateAndTimeLeft) {
  EXPECT_EQ(format_meter(sample()),
            "translating  60% [############........]  12,000/20,000 lines  1,200 lines/s  7 s left");
}

TEST(FormatMeter, TimeGoesOnBetweenCounts) {
  WorkDone work = sample();
  work.seconds = 12.0;
  EXPECT_THAT(format_meter(work), testing::EndsWith("5 s left"));
  work.seconds = 100.0;
  EXPECT_THAT(format_meter(work), testing::EndsWith("0 s left"));
}

TEST(FormatMeter, WithoutATotalThereIsNoBar) {
  WorkDone work = sample();
  work.total = 0;
  EXPECT_EQ(format_meter(work), "translating  12,000 lines  1,200 lines/s  10 s");
  EXPECT_EQ(format_meter({.task = "learning a vocabulary", .unit = "", .seconds = 75.0}),
            "learning a vocabulary  1 min 15 s");
}

TEST(FormatMeter, BarAndRateGiveWayInANarrowTerminal) {
  for (int columns = 1; columns < 90; ++columns) {
    EXPECT_LE(format_meter(sample(), columns).size(), static_cast<size_t>(columns));
  }
  EXPECT_EQ(format_meter(sample(), 70), "translating  60%  12,000/20,000 lines  1,200 lines/s  7 s left");
  EXPECT_EQ(format_meter(sample(), 50), "translating  60%  12,000/20,000 lines  7 s left");
}

TEST(FormatMeter, MoreThanTheTotalIsAFullBar) {
  WorkDone work = sample();
  work.done = 20'001;
  EXPECT_THAT(format_meter(work), HasSubstr("100% [####################]"));
}

struct FakeClock {
  double now = 50.0;
  MeterOptions options() {
    MeterOptions options;
    options.live = true;
    options.ticks = false;
    options.clock = [this] { return now; };
    return options;
  }
};

TEST(Meter, AppearsAfterTwoSecondsAndIsErased) {
  std::ostringstream stream;
  FakeClock clock;
  {
    Meter meter(stream, "translating", "lines", clock.options());
    clock.now += 1.9;
    meter.show(10, 100);
    EXPECT_EQ(stream.str(), "");
    clock.now += 0.2;
    meter.show(20, 100);
    EXPECT_THAT(stream.str(), HasSubstr("translating  20%"));
  }
  EXPECT_TRUE(stream.str().ends_with("\r\x1b[K"));
}

TEST(Meter, IsNotRedrawnMoreOftenThanTheInterval) {
  std::ostringstream stream;
  FakeClock clock;
  Meter meter(stream, "translating", "lines", clock.options());
  clock.now += 3.0;
  for (int i = 0; i < 100; ++i) {
    clock.now += 0.01;
    meter.show(i, 100);
  }
  const std::string text = stream.str();
  size_t drawn = 0;
  for (size_t at = text.find("translating"); at != std::string::npos; at = text.find("translating", at + 1)) {
    ++drawn;
  }
  EXPECT_LE(drawn, 6U);
  EXPECT_GE(drawn, 4U);
}

TEST(Meter, MessagesStandAboveTheLine) {
  std::ostringstream stream;
  FakeClock clock;
  Meter meter(stream, "translating", "lines", clock.options());
  meter.message("early");
  EXPECT_EQ(stream.str(), "early\n");
  clock.now += 3.0;
  meter.show(1, 2);
  meter.message("late");
  EXPECT_TRUE(stream.str().ends_with("\r\x1b[Klate\n"));
}

TEST(Meter, ANewTaskWaitsAgain) {
  std::ostringstream stream;
  FakeClock clock;
  Meter meter(stream, "scoring", "lines", clock.options());
  clock.now += 3.0;
  meter.show("BLEU", "lines", 1, 2);
  EXPECT_EQ(stream.str(), "");
  clock.now += 3.0;
  meter.show("BLEU", "lines", 2, 2);
  EXPECT_THAT(stream.str(), HasSubstr("BLEU  100%"));
}

TEST(Meter, NothingIsShownOnAPipe) {
  std::ostringstream stream;
  FakeClock clock;
  MeterOptions options = clock.options();
  options.live = false;
  {
    Meter meter(stream, "translating", "lines", options);
    clock.now += 30.0;
    meter.show(1, 2);
  }
  EXPECT_EQ(stream.str(), "");
}

TEST(Meter, AThreadShowsWorkWithoutCounts) {
  std::ostringstream stream;
  MeterOptions options;
  options.live = true;
  options.delay_seconds = 0.05;
  options.interval_seconds = 0.02;
  {
    const Meter meter(stream, "learning a vocabulary", "", options);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  EXPECT_THAT(stream.str(), HasSubstr("learning a vocabulary  0 s"));
}

TEST(Meter, TheBarHasAColourIfAskedFor) {
  std::ostringstream stream;
  FakeClock clock;
  MeterOptions options = clock.options();
  options.color = true;
  Meter meter(stream, "translating", "lines", options);
  clock.now += 3.0;
  meter.show(1, 2);
  EXPECT_THAT(stream.str(), HasSubstr("\x1b[36m[##########..........]\x1b[0m"));
}

TEST(Terminal, APipeHasNoColoursAndNoLiveLines) {
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  EXPECT_FALSE(can_rewrite_lines(pipes[1]));
  EXPECT_FALSE(shows_colors(pipes[1]));
  ::close(pipes[0]);
  ::close(pipes[1]);
  EXPECT_EQ(colored("x", Color::kRed, false), "x");
  EXPECT_EQ(colored("x", Color::kRed, true), "\x1b[31mx\x1b[0m");
}

}  // namespace
}  // namespace dragoman::report
