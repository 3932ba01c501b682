#pragma once

#include <memory>
#include <string>

namespace dragoman::cli {

/// A prompt on the terminal of standard input and output. Lines can be edited as in other programs, and the lines of
/// this session come back with the arrow keys. While it lives, SIGINT and SIGTERM leave the terminal as it was, end the
/// line and end the process with status 130 or 143. Throws: Error(kRuntime) if the process has another prompt.
class Prompt {
 public:
  /// @param text  stands before the cursor: "en > de: "
  explicit Prompt(std::string text);
  ~Prompt();
  Prompt(const Prompt&) = delete;
  Prompt& operator=(const Prompt&) = delete;

  /// Reads a line as data::clean_line. Returns false at the end of the input (Ctrl-D on an empty line).
  bool next(std::string& line);

 private:
  class Editor;
  std::unique_ptr<Editor> editor_;
};

}  // namespace dragoman::cli
