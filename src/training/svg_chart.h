#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::training {

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

/// A matrix as a heat map.
struct HeatMap {
  std::string title;
  std::string row_axis, column_axis;  ///< what rows and columns are: "target", "source"
  std::vector<std::string> row_labels, column_labels;
  std::vector<float> weights;  ///< row-major, [rows, columns], shown from 0 (empty) to 1 (full colour)
};

/// The heat map as one inline <svg> element with a <title> tooltip on each cell; a weight that is not finite
/// stands out in the second colour. Throws Error(kRuntime) if the sizes disagree:
/// "heat map 'cross': 12 weights, but 3 row labels x 5 column labels; give one weight a cell".
std::string heat_map(const HeatMap& map);

}  // namespace dragoman::training
