#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dragoman::cli {

/// Returns data::read_lines of a file, and says on standard error how many of the lines were repaired.
[[nodiscard]] std::vector<std::string> read_lines(const std::filesystem::path& file);

}  // namespace dragoman::cli
