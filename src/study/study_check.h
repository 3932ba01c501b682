#pragma once

#include "study/study.h"

namespace dragoman::study {

/// Checks what a study says of itself; given.h checks the files that it names. Each stage uses what is given or what an
/// earlier stage made, a share of the time needs minutes, what a row changes reaches a training, seeds differ, models
/// translate in the direction in which they learned, and no two things would be one file. Throws: Error(kUsage),
/// "trial.yaml: line 12: stage clean uses the text "news", which is neither given nor made by an earlier stage", "study
/// trial: a file of each study and the row texts would both be texts; rename one".
void check_study(const Study& study);

}  // namespace dragoman::study
