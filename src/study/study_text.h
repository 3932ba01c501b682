#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "report/study_report.h"
#include "study/results.h"

namespace dragoman::study {

/// Returns a text that is the same in all languages of the report, or one that the report translates.
inline report::SaidText plain(std::string text) {
  return {std::move(text), {}};
}

/// What stands in tables in place of a number that is not known.
inline constexpr const char* kNotKnown = "n/a";

/// Returns "39.12 ± 0.25"; without a deviation "39.12"; without a mean "n/a".
std::string text_of(const Spread& spread, int digits = 2);

/// Returns "39.12", or "n/a" for NaN.
inline std::string text_of_number(double number, int digits = 2) {
  return text_of({.seeds = 1, .mean = number, .deviation = std::numeric_limits<double>::quiet_NaN()}, digits);
}

/// Returns the spread of value(cell) over the seeds of a row.
template <typename Value>
Spread spread_over(const RowResult& row, const Value& value) {
  std::vector<double> values;
  std::ranges::transform(row.cells, std::back_inserter(values), value);
  return spread_of(values);
}

/// Returns the mean of value(cell) over the seeds of a row, as text; "n/a" if a cell has no number.
template <typename Value>
std::string text_of_mean(const RowResult& row, const Value& value, int digits = 2) {
  return text_of_number(spread_over(row, value).mean, digits);
}

}  // namespace dragoman::study
