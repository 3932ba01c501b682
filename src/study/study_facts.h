#pragma once

#include "report/study_report.h"
#include "study/results.h"

namespace dragoman::study {

/// The program that writes a report, "dragoman 0.1.0 (commit 1a2b3c4)", and the day, "2026-01-31".
struct Writer {
  std::string program, date;
};

/// Returns the table of what was run: options, texts, models, tests, stages and searches.
report::StudyTable fact_table(const Study& study);

/// Returns the table of what the study ran on: program, processor, workers of its trainings, date, and the hours of all
/// trainings together.
report::StudyTable run_table(const Study& study, const StudyResults& results, const Writer& writer);

/// Returns the table of the searches that tuning chose, a line for each row and seed. No lines without tuning.
report::StudyTable tuned_table(const StudyResults& results);

/// Returns the table of what differs between the rows: a line for each value of CellResult::settings that is not the
/// same in all rows, by the first seed of each; "-" for a row without it. No lines if nothing differs.
report::StudyTable settings_table(const StudyResults& results);

}  // namespace dragoman::study
