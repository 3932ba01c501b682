#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dragoman::cli {

/// How --help shows the program and a command: what it does, how it is called, an example, and the options by group,
/// the most used first, wrapped at 100 columns. The example is the "footer" of the command.
///   -i, --input FILE             File to translate, one sentence a line; - = standard input
///       --nbest INT              Translations a line, 1 to the beam size; 0 = off [default: 0]
class HelpFormat : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace dragoman::cli
