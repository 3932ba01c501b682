#pragma once

#include "report/study_report.h"
#include "study/study.h"

namespace dragoman::study {

/// Returns the table of what was run: options, texts, models, tests, stages, searches, and the processor.
report::StudyTable fact_table(const Study& study);

}  // namespace dragoman::study
