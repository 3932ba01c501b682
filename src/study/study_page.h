#pragma once

#include "report/study_report.h"
#include "study/results.h"
#include "study/study_facts.h"

namespace dragoman::study {

/// Returns the report of a study: what to conclude, scores with mean and standard deviation over the seeds, the
/// comparisons with the baseline, what differs between the rows, the curves of each row beside the baseline's.
report::StudyReport study_page(const Study& study, const StudyResults& results, const Writer& writer);

}  // namespace dragoman::study
