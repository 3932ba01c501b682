#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/page_texts.h"

namespace dragoman::report {

/// Returns about `target` round numbers in [low, high], in increasing order. Their distance is 1, 2 or 5 times a power
/// of ten. low = high gives this one value; an end that is not finite gives an empty result.
std::vector<double> nice_ticks(double low, double high, int target = 5);

/// Returns a short number for an axis: 0.0005 -> "5e-4", 1500 -> "1.5k", 2000000 -> "2M", 0.25 -> "0.25".
std::string format_tick(double value);

/// Returns a number with four significant digits. Numbers from 10,000 on are integers with commas; a number that is not
/// finite is "n/a".
std::string format_value(double value);

/// One curve. A y that is not finite is a gap. Series of one name are repetitions of one thing with other seeds: they
/// share a colour and the label at their ends. Requires: x increases.
struct ChartSeries {
  std::string name;
  std::vector<double> x, y;
  std::string seed{};  ///< of a repetition: "2"; empty where there is one series of the name
};

enum class ChartBest { kNone, kLowest, kHighest };

/// The data of a line chart.
struct Chart {
  std::string title;
  std::string x_label = "step";
  std::string y_label;
  std::vector<ChartSeries> series;
  bool starts_at_zero = false;                     ///< the y axis includes 0
  ChartBest best = ChartBest::kNone;               ///< the point of the last series that is marked
  PageLanguage language = PageLanguage::kEnglish;  ///< names in the table of page_texts.h are shown in it
};

/// Returns the number of the colour of each series: "series-1" of the style sheet is 1. Series of one name share it.
std::vector<size_t> colours_of(const Chart& chart);

/// Returns the chart as one inline <svg> element, which is well-formed XML without external resources. It has axes with
/// round ticks, one line for each series, points with <title> tooltips and a text alternative in aria-label. Lines of
/// one name have the class "thin". The last value of each series stands beside its end, or the mean over the lines of
/// one name. The style sheet of the page sets the colours of the classes "series-0", "series-1", .... Long series are
/// thinned to the resolution of the chart. A chart without finite points says so.
std::string line_chart(const Chart& chart);

/// Returns the exponential moving average of noisy values with bias correction: s = w s + (1 - w) y. Values that are
/// not finite stay in the result and are left out of the average. Source: Kingma and Ba 2015, "Adam", section 3, for
/// the bias correction.
std::vector<double> smoothed(const std::vector<double>& values, double weight);

}  // namespace dragoman::report
