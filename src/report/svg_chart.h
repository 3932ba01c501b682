#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::report {

/// Round numbers (1, 2 or 5 times a power of ten apart) that lie in [low, high], about `target` of them, ascending.
/// low = high yields that one value; an end that is not finite yields none.
std::vector<double> nice_ticks(double low, double high, int target = 5);

/// A number for an axis, short: 0.0005 -> "5e-4", 1500 -> "1.5k", 2000000 -> "2M", 0.25 -> "0.25".
std::string format_tick(double value);

/// A number for reading off: four significant digits, whole from 10,000 on (with commas), "n/a" if not finite.
std::string format_value(double value);

/// One curve. x ascends; a y that is not finite leaves a gap.
struct ChartSeries {
  std::string name;
  std::vector<double> x, y;
};

enum class ChartBest { kNone, kLowest, kHighest };

/// A line chart.
struct Chart {
  std::string title;
  std::string x_label = "step";
  std::string y_label;
  std::vector<ChartSeries> series;
  bool starts_at_zero = false;        ///< the y axis includes 0
  ChartBest best = ChartBest::kNone;  ///< point of the last series to mark and name
};

/// The chart as one inline <svg> element (well-formed XML, no outside resources): axes with round ticks, a line a
/// series, points with <title> tooltips, the last value of each series beside its end, a text alternative in
/// aria-label. Colours come from the page's style (classes "series-0", "series-1", ...). Long series are thinned to
/// what the width can show. Without any finite point it says so.
std::string line_chart(const Chart& chart);

/// A trailing exponential mean with bias correction, for showing noisy values: s = w s + (1 - w) y. Values that are not
/// finite pass through and are left out of the mean. Source: Kingma & Ba 2015, section 3 (the correction).
std::vector<double> smoothed(const std::vector<double>& values, double weight);

}  // namespace dragoman::report
