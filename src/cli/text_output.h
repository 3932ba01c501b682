#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace dragoman::cli {

/// Where a command's lines go: standard output or a device, flushed by every `write`, or a file that appears whole at
/// `finish` and not at all when the command fails.
class TextOutput {
 public:
  /// @param path  empty or "-" = standard output
  /// Throws Error(kCannotWrite) when the folder of the file is not there.
  explicit TextOutput(std::filesystem::path path);
  /// Throws Error(kCannotWrite): "standard output: cannot write: Broken pipe; ...".
  void write(std::string_view text);
  void finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string name_;
  std::filesystem::path path_;                // of a regular file, else empty
  std::unique_ptr<std::FILE, Close> device_;  // a pipe or device given by name
  std::string pending_;                       // content of the file
};

/// Prints to standard error. A message that cannot be written is no reason to fail (fmt::print would throw).
void say(const std::string& text);

}  // namespace dragoman::cli
