#pragma once

#include <streambuf>
#include <string>

#include "cli/text_output.h"

namespace dragoman::cli {

/// Prints the warnings among the lines that are written to it to standard error, and drops the rest: what --quiet
/// leaves of the messages of a training run.
class WarningsOnly : public std::streambuf {
 protected:
  int overflow(int c) override {
    if (c != '\n') {
      line_ += static_cast<char>(c);
      return c;
    }
    const size_t begin = line_.find("warning: ");  // behind what moves the cursor of a terminal
    if (begin != std::string::npos) {
      say(line_.substr(begin) + "\n");
    }
    line_.clear();
    return c;
  }

 private:
  std::string line_;
};

}  // namespace dragoman::cli
