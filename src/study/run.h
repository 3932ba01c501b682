#pragma once

#include <functional>
#include <string>

#include "study/steps.h"
#include "study/study_folder.h"

namespace dragoman::study {

/// Does all steps of a cell that are not done. @param say  is told what is being done, and what failed
/// Returns: 0, or the exit status of a command of the program that failed or was stopped by a signal.
/// Throws: Error(kUsage) if a stage was done with other options.
int run_cell(const Study& study, const StudyFolder& folder, const Cell& cell, const Program& program,
             const std::function<void(const std::string&)>& say);

/// Whether all steps of a cell have been done as the study asks for them.
bool is_done(const Study& study, const StudyFolder& folder, const Cell& cell);
/// Whether a step of a cell has been done, but as it was asked for before.
bool is_changed(const Study& study, const StudyFolder& folder, const Cell& cell);

}  // namespace dragoman::study
