#include "report/svg_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "report/svg_heat_map.h"
#include "support/error_of.h"
#include "support/markup_check.h"

namespace dragoman::report {
namespace {

using test_support::count_of;
using test_support::MarkupCheck;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Chart chart_of(std::vector<double> x, std::vector<double> y) {
  Chart chart;
  chart.title = "Loss";
  chart.series.push_back({"training", std::move(x), std::move(y)});
  return chart;
}

/// Well-formed, and no number that an SVG reader refuses.
void expect_sound(const std::string& svg) {
  const auto fault = MarkupCheck::first_fault(svg);
  EXPECT_FALSE(fault.has_value()) << *fault;
  for (const char* bad : {"=\"nan", "=\"inf", "=\"-nan", "=\"-inf", "nan,", ",nan", "inf,", ",inf"}) {
    EXPECT_THAT(svg, Not(HasSubstr(bad)));
  }
}

TEST(NiceTicks, AreRoundNumbersInsideTheRange) {
  EXPECT_THAT(nice_ticks(0, 10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(nice_ticks(0, 100, 4), ElementsAre(0, 20, 40, 60, 80, 100));
  EXPECT_THAT(nice_ticks(0.13, 0.47, 4),
              ElementsAre(testing::DoubleEq(0.2), testing::DoubleEq(0.3), testing::DoubleEq(0.4)));
  EXPECT_THAT(nice_ticks(-1, 1, 4), ElementsAre(-1, -0.5, 0, 0.5, 1));
}

TEST(NiceTicks, StayNearTheWishedNumberAtEveryScale) {
  for (double scale = 1e-12; scale < 1e12; scale *= 3.7) {
    const auto ticks = nice_ticks(0.31 * scale, 1.93 * scale, 5);
    EXPECT_GE(ticks.size(), 3U) << scale;
    EXPECT_LE(ticks.size(), 8U) << scale;
    EXPECT_GE(ticks.front(), 0.31 * scale * (1 - 1e-9));
    EXPECT_LE(ticks.back(), 1.93 * scale * (1 + 1e-9));
    EXPECT_TRUE(std::is_sorted(ticks.begin(), ticks.end()));
  }
}

TEST(NiceTicks, OddRangesAreHarmless) {
  EXPECT_THAT(nice_ticks(3, 3), ElementsAre(3));
  EXPECT_THAT(nice_ticks(1, 1 + 1e-15), ElementsAre(1));
  EXPECT_TRUE(nice_ticks(kNan, 1).empty());
  EXPECT_TRUE(nice_ticks(0, kInfinity).empty());
  EXPECT_TRUE(nice_ticks(2, 1).empty());
}

TEST(FormatTick, IsShort) {
  EXPECT_EQ(format_tick(0), "0");
  EXPECT_EQ(format_tick(0.25), "0.25");
  EXPECT_EQ(format_tick(5e-4), "5e-4");
  EXPECT_EQ(format_tick(-2.5e-7), "-2.5e-7");
  EXPECT_EQ(format_tick(1500), "1.5k");
  EXPECT_EQ(format_tick(12500), "12.5k");
  EXPECT_EQ(format_tick(2e6), "2M");
}

TEST(FormatValue, IsReadable) {
  EXPECT_EQ(format_value(12721.6), "12,722");
  EXPECT_EQ(format_value(2.8868e-4), "2.887e-4");
  EXPECT_EQ(format_value(41.0249), "41.02");
  EXPECT_EQ(format_value(kNan), "n/a");
}

TEST(Smoothed, KeepsConstantsAndSkipsWhatIsNotFinite) {
  for (const double value : smoothed({3, 3, 3}, 0.9)) {
    EXPECT_DOUBLE_EQ(value, 3.0);
  }
  const auto values = smoothed({1, kNan, 3}, 0.5);
  EXPECT_DOUBLE_EQ(values[0], 1.0);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_DOUBLE_EQ(values[2], (0.5 * 0.5 * 1 + 0.5 * 3) / 0.75);
}

TEST(LineChart, DrawsLineTooltipsAndEndValue) {
  const std::string svg = line_chart(chart_of({1, 2, 3}, {3.5, 2.5, 2.25}));
  expect_sound(svg);
  EXPECT_EQ(count_of(svg, "<polyline"), 1U);
  EXPECT_THAT(svg, HasSubstr("<title>training: 2.5 at step 2</title>"));
  EXPECT_THAT(svg, HasSubstr(">2.25</text>"));
  EXPECT_THAT(svg, HasSubstr("aria-label=\"Line chart: Loss; training ends at 2.25 (step 3)\""));
}

TEST(LineChart, SaysSoWithoutValues) {
  for (const Chart& chart : {Chart{}, chart_of({}, {}), chart_of({1, 2}, {kNan, kInfinity})}) {
    const std::string svg = line_chart(chart);
    expect_sound(svg);
    EXPECT_THAT(svg, HasSubstr("no values yet"));
    EXPECT_EQ(count_of(svg, "<polyline"), 0U);
  }
}

TEST(LineChart, OnePointIsADot) {
  for (const double value : {5.0, 0.0, -2.0, 1e-300}) {
    const std::string svg = line_chart(chart_of({1}, {value}));
    expect_sound(svg);
    EXPECT_EQ(count_of(svg, "class=\"dot\""), 1U);
  }
}

TEST(LineChart, ValuesThatAreNotFiniteLeaveGaps) {
  const std::string svg = line_chart(chart_of({1, 2, 3, 4, 5, 6, 7}, {9, 8, kNan, 6, kInfinity, 4, 3}));
  expect_sound(svg);
  EXPECT_EQ(count_of(svg, "<polyline"), 2U);
  EXPECT_EQ(count_of(svg, "class=\"dot\""), 1U);
}

TEST(LineChart, MarksTheBestPointOfTheLastSeries) {
  Chart chart = chart_of({1, 2, 3}, {3, 1, 2});
  chart.best = ChartBest::kLowest;
  EXPECT_THAT(line_chart(chart), HasSubstr("best training: 1 at step 2"));
  chart.best = ChartBest::kHighest;
  EXPECT_THAT(line_chart(chart), HasSubstr("best training: 3 at step 1"));
}

TEST(LineChart, SeedsOfOneNameShareColourAndEndLabel) {
  Chart chart;
  chart.series = {{"base", {1, 2}, {3, 4}, "1"}, {"row", {1, 2}, {3, 5}, "1"}, {"row", {1, 2}, {3, 8}, "2"}};
  EXPECT_THAT(colours_of(chart), ElementsAre(0, 1, 1));
  const std::string svg = line_chart(chart);
  expect_sound(svg);
  EXPECT_EQ(count_of(svg, "class=\"line thin series-1\""), 2U);
  EXPECT_EQ(count_of(svg, "class=\"line series-0\""), 1U) << "one seed has a full line";
  EXPECT_EQ(count_of(svg, "class=\"end series-1\""), 1U);
  EXPECT_THAT(svg, HasSubstr(">6.5</text>")) << "the mean of 5 and 8";
  EXPECT_THAT(svg, HasSubstr("<title>row, seed 2: 8 at step 2</title>"));
  chart.language = PageLanguage::kChinese;
  EXPECT_THAT(line_chart(chart), HasSubstr("<title>row，种子 2：步数 2 时 8</title>"));
}

TEST(LineChart, LongSeriesStaySmall) {
  Chart chart = chart_of({}, {});
  for (int i = 0; i < 200'000; ++i) {
    chart.series[0].x.push_back(i);
    chart.series[0].y.push_back(std::sin(i * 1e-4));
  }
  const std::string svg = line_chart(chart);
  EXPECT_LT(svg.size(), 60'000U);
  EXPECT_THAT(svg, HasSubstr("at step 199,999</title>")) << "the last point stays";
}

TEST(LineChart, EscapesItsTexts) {
  Chart chart = chart_of({1, 2}, {1, 2});
  chart.title = "\"><script>alert(1)</script>";
  chart.series[0].name = "<b>&";
  const std::string svg = line_chart(chart);
  expect_sound(svg);
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
}

TEST(HeatMap, DrawsACellAWeight) {
  const HeatMap map{"cross", "target", "source", {"<a>", "b"}, {"x", "y", "z"}, {0.1F, 0.2F, 0.7F, 1.0F, 0.0F, NAN}};
  const std::string svg = heat_map(map);
  expect_sound(svg);
  EXPECT_EQ(count_of(svg, "class=\"cell"), 6U);
  EXPECT_THAT(svg, HasSubstr("<title>&lt;a&gt; \u2192 z: 0.700</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>b \u2192 z: not a number / 不是数</title>"));
}

TEST(HeatMap, MayBeEmpty) {
  expect_sound(heat_map({}));
}

TEST(HeatMap, RefusesSizesThatDisagree) {
  EXPECT_THAT(test_support::error_of([] {
                heat_map({"cross", "", "", {"a", "b"}, {"x"}, {1.0F}});
              }),
              HasSubstr("heat map 'cross': 1 weights, but 2 row labels x 1 column labels"));
}

}  // namespace
}  // namespace dragoman::report
