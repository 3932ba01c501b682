#include "cli/help_format.h"

#include <fmt/format.h>

#include "cli/option_text.h"

namespace dragoman::cli {
namespace {

constexpr size_t kNameWidth = 30;
constexpr size_t kLineWidth = 100;

std::vector<std::string> wrapped(const std::string& text, size_t width) {
  std::vector<std::string> lines(1);
  for (const std::string& word : CLI::detail::split(text, ' ')) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) {
      lines.emplace_back();
    }
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

// A name and its text in two columns. A long name has a line of its own.
std::string help_row(const std::string& name, const std::string& text) {
  const bool fits = name.size() + 2 <= kNameWidth;
  std::string rows = fits ? fmt::format("{:<{}}", name, kNameWidth) : name + "\n" + std::string(kNameWidth, ' ');
  const std::string margin = "\n" + std::string(kNameWidth, ' ');
  return rows + CLI::detail::join(wrapped(text, kLineWidth - kNameWidth), margin) + "\n";
}

// "  -m, --model DIR ..."; the long names of all options stand below each other.
std::string shown_name(const CLI::Option& option) {
  const std::string names = CLI::detail::join(dashed_names(option), ", ");
  const std::string value = value_name(option);
  return (names.starts_with("--") ? "      " : "  ") + names + (value.empty() ? "" : " " + value) +
         (value.empty() || !takes_several(option) ? "" : " ...");
}

std::string positional_rows(const CLI::App& command) {
  std::string rows;
  for (const CLI::Option* option : positionals(command)) {
    rows += help_row("  " + value_name(*option), explanation(*option));
  }
  return rows.empty() ? "" : "\nArguments:\n" + rows;
}

std::string option_rows(const CLI::App& command) {
  std::string rows;
  for (const OptionGroup& group : option_groups(command)) {
    rows += "\n" + group.title + ":\n";
    for (const CLI::Option* option : group.options) {
      rows += help_row(shown_name(*option), explanation(*option));
    }
  }
  return rows;
}

std::string command_rows(const CLI::App& app) {
  std::string rows;
  for (const TitledCommands& group : titled_commands(app)) {
    rows += "\n" + group.title + ":\n";
    for (const CLI::App* command : group.commands) {
      rows += help_row("  " + command->get_name(), command->get_description());
    }
  }
  return rows;
}

}  // namespace

std::string HelpFormat::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  const std::string example = app->get_footer();
  const std::string shown =
      example.empty() ? "" : "\nExample:\n  " + CLI::detail::find_and_replace(example, "\n", "\n  ") + "\n";
  return fmt::format("{}\n\nUsage: {}\n{}{}{}{}", CLI::detail::join(wrapped(app->get_description(), kLineWidth), "\n"),
                     usage_of(*app), shown, command_rows(*app), positional_rows(*app), option_rows(*app));
}

}  // namespace dragoman::cli
