#pragma once

#include <vector>

#include "report/study_report.h"
#include "report/svg_chart.h"
#include "study/results.h"

namespace dragoman::study {

/// Returns the name of what the curves of a study show: "BLEU", "accuracy" or "validation loss".
const char* curve_name(const Study& study);

/// Returns the table of Study::shown_minutes and Study::reached_row: the best validation of each row within each number
/// of minutes, and the minutes until it has a value that every seed of that row reaches. Means over the seeds; "n/a" if
/// a seed does not reach the value, or if something other than patience ended its training before those minutes.
report::StudyTable time_table(const Study& study, const StudyResults& results);

/// Returns: for each other row, after how many minutes it is as good as the best of Study::reached_row, or how many of
/// its seeds ever are; nothing if that row is not named or not done.
std::vector<report::SaidText> reach_sentences(const Study& study, const StudyResults& results);

/// Returns a chart for each row: the curve of each of its seeds beside those of the baseline.
std::vector<report::Chart> charts(const Study& study, const StudyResults& results);

}  // namespace dragoman::study
