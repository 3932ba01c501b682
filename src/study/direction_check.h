#pragma once

#include "study/study.h"

namespace dragoman::study {

/// Checks that models translate in the direction in which they learned, as far as names and the languages of files tell
/// it: the last stage that of the validation text and the tests, a stage of text that of its text.
/// Throws: Error(kUsage), "trial.yaml: line 12: stage taught translates from source to target by back, which learns the
/// other direction alone; name a model of this direction or of both".
void check_directions(const Study& study);

}  // namespace dragoman::study
