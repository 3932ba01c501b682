#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"

namespace dragoman::cli {

/// Where a command's lines go: standard output or a device, flushed by every `write`, or a file that appears whole at
/// `finish` and not at all when the command fails (base::FileWriter). Holds nothing back in memory.
class TextOutput {
 public:
  /// @param path  empty or "-" = standard output
  /// Throws Error(kCannotWrite) when the file cannot be made: what would fail at the end fails before the work.
  explicit TextOutput(std::filesystem::path path);
  /// Throws Error(kCannotWrite): "standard output: cannot write: No space left on device; ..."; ReaderGone.
  void write(std::string_view text);
  void finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string name_;
  std::unique_ptr<std::FILE, Close> device_;  // a pipe or device given by name
  std::unique_ptr<base::FileWriter> file_;    // a regular file; with neither it is standard output
};

/// Thrown by TextOutput::write if the reader of a pipe has gone, as in `dragoman translate | head -1`. That is no
/// error: the program ends without a message, as programs do that SIGPIPE ends.
struct ReaderGone {};

/// The exit status after ReaderGone, which is that of a program that SIGPIPE has ended.
constexpr int kReaderGoneStatus = 128 + 13;

/// Prints to standard error. A message that cannot be written is no reason to fail (fmt::print would throw).
void say(const std::string& text);

/// Makes `say_status` silent from here on, which is what --quiet asks for.
void be_quiet();
bool is_quiet();

/// Prints progress or statistics to standard error, unless `is_quiet`.
void say_status(const std::string& text);

/// Says `note` in the name of the program, unless it is empty.
void say_note(const std::string& note);

}  // namespace dragoman::cli
