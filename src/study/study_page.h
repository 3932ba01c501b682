#pragma once

#include "report/study_report.h"
#include "study/results.h"

namespace dragoman::study {

/// Returns the report of a study: what to conclude, scores with mean and standard deviation over the seeds, the
/// comparisons with the baseline, the curves of each row beside the baseline's.
report::StudyReport study_page(const Study& study, const StudyResults& results);

}  // namespace dragoman::study
