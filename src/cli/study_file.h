#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "study/study.h"

namespace dragoman::cli {

/// Reads the file of a study (docs/studies.md).
/// @param corpus   the folder that paths of texts are relative to
/// @param changes  "NAME=VALUE": a variable of the file, an option of all trainings, or STAGE.OPTION
/// Throws: Error(kUsage), "norms.yaml: line 3: unknown key "beam_sice"; did you mean "beam-size"?", and as
/// study::check_study.
study::Study read_study(const std::filesystem::path& path, const std::filesystem::path& corpus,
                        const std::vector<std::string>& changes);

}  // namespace dragoman::cli
