#pragma once

#include <CLI/CLI.hpp>

namespace dragoman::cli {

/// How --help shows an option: name and kind of value in the first column; meaning, choices and default in the second,
/// wrapped at 100 columns.
///   --tokenize TEXT           How BLEU cuts words; none = at spaces, for tokenised text [13a, intl, zh, char or none;
///                             default: 13a]
class HelpFormat : public CLI::Formatter {
 public:
  HelpFormat() { column_width(28); }
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace dragoman::cli
