#pragma once

#include "study/study.h"

namespace dragoman::study {

/// Checks that each stage uses what is given or what an earlier stage made, and that no two things of a study would be
/// one file.
/// Throws: Error(kUsage), "study trial: stage clean uses the text "news", which is neither given nor made by an earlier
/// stage", "study trial: the row texts and a file of each study would both be texts; rename one".
void check_names(const Study& study);

}  // namespace dragoman::study
