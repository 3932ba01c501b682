#include "cli/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "cli/option_text.h"
#include "cli/version.h"

namespace dragoman::cli {
namespace {

constexpr const char* kExitStatus =
    ".SH EXIT STATUS\n"
    ".TP\n0\ndone\n"
    ".TP\n1\nfailed while running\n"
    ".TP\n2\nwrong command line, option or configuration\n"
    ".TP\n65\ninput or model that cannot be used\n"
    ".TP\n74\noutput that cannot be written\n"
    ".TP\n130, 143\nended by SIGINT or SIGTERM\n";

// Text in which roff sees no request and changes no character: a dash stays the dash of an option, a quote a quote.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '"':
        escaped += "\\(dq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      default:
        escaped += c;
    }
  }
  return escaped.starts_with('.') ? "\\&" + escaped : escaped;
}

std::string bold(std::string_view text) {
  return "\\fB" + roff(text) + "\\fR";
}

std::string italic(std::string_view text) {
  return "\\fI" + roff(text) + "\\fR";
}

// Indented lines that are not filled.
std::string roff_block(std::string_view text) {
  std::string lines;
  for (const std::string& line : CLI::detail::split(std::string(text), '\n')) {
    lines += roff(line) + "\n";
  }
  return ".nf\n.RS\n" + lines + ".RE\n.fi\n";
}

std::string roff_entry(const std::string& term, const std::string& text) {
  return ".TP\n" + term + "\n" + roff(text) + "\n";
}

std::string option_entry(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : dashed_names(option)) {
    names.push_back(bold(name));
  }
  const std::string value = value_name(option);
  const std::string shown = value.empty() ? "" : " " + italic(value) + (takes_several(option) ? " ..." : "");
  return roff_entry(fmt::format("{}{}", fmt::join(names, ", "), shown), explanation(option));
}

std::string options_section(const CLI::App& command) {
  std::string text = ".SH OPTIONS\n";
  for (const CLI::Option* option : positionals(command)) {
    text += roff_entry(italic(value_name(*option)), explanation(*option));
  }
  for (const OptionGroup& group : option_groups(command)) {
    text += ".SS " + roff(group.title) + "\n";
    for (const CLI::Option* option : group.options) {
      text += option_entry(*option);
    }
  }
  return text;
}

std::string commands_section(const CLI::App& app) {
  std::string text;
  for (const TitledCommands& group : titled_commands(app)) {
    text += ".SS " + roff(group.title) + "\n";
    for (const CLI::App* command : group.commands) {
      text += roff_entry(bold(command->get_name()), command->get_description());
    }
  }
  return text.empty() ? "" : ".SH COMMANDS\n" + text;
}

std::string see_also(const CLI::App& command) {
  std::vector<std::string> pages;
  if (command.get_parent() != nullptr) {
    pages.push_back(bold(man_page_name(*command.get_parent())) + "(1)");
  }
  for (const CLI::App* other : commands_of(command)) {
    pages.push_back(bold(man_page_name(*other)) + "(1)");
  }
  return fmt::format(".SH SEE ALSO\n{}\n", fmt::join(pages, ",\n"));
}

}  // namespace

std::string man_page_name(const CLI::App& command) {
  std::string name = full_name(command);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string man_page(const CLI::App& command) {
  const std::string name = man_page_name(command);
  return fmt::format(".TH {} 1 \"\" \"dragoman {}\" \"User Commands\"\n", roff(base::ascii_upper_case(name)),
                     version_number()) +
         fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(command.get_description())) +
         fmt::format(".SH SYNOPSIS\n{}\n", roff(usage_of(command))) + ".SH EXAMPLE\n" +
         roff_block(command.get_footer()) + commands_section(command) + options_section(command) + kExitStatus +
         see_also(command);
}

}  // namespace dragoman::cli
