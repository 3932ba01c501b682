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

/// The values that an option takes, in order; empty when it takes any.
std::vector<std::string> choices_of(const CLI::Option& option);

/// What --help calls the value of an option: "FILE"; empty for a flag.
std::string value_name(const CLI::Option& option);

/// "13a, intl or none" for `last_word` "or".
std::string listed(std::vector<std::string> words, const std::string& last_word);

}  // namespace dragoman::cli
