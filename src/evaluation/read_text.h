#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dragoman::evaluation {

/// One text and where it came from.
struct Text {
  std::string name;  ///< the file, as shown in tables
  std::vector<std::string> lines;
};

/// Reads a text: LF ends a line, white space at its end is dropped, ill-formed UTF-8 becomes U+FFFD.
/// Throws Error(kBadData) as base::read_file does.
Text read_text(const std::filesystem::path& path);

}  // namespace dragoman::evaluation
