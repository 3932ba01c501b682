#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace dragoman::cli {

/// Where a command's lines go: standard output, flushed by every `write`, or a file that appears whole at `finish`
/// and not at all when the command fails.
class TextOutput {
 public:
  /// @param path  empty or "-" = standard output
  explicit TextOutput(std::filesystem::path path);
  /// Throws Error(kCannotWrite): "standard output: cannot write: Broken pipe; ...".
  void write(std::string_view text);
  void finish();

 private:
  std::filesystem::path path_;
  std::string pending_;  // content of the file
};

}  // namespace dragoman::cli
