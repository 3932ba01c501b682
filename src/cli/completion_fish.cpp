#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion.h"
#include "cli/option_text.h"

namespace dragoman::cli {
namespace {

// Between single quotes of fish, a backslash and a single quote need a backslash.
std::string fish_quoted(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    escaped += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return "'" + escaped + "'";
}

std::string fish_values(const CLI::App& app, const CLI::Option& option) {
  switch (value_kind(option)) {
    case ValueKind::kNone:
      return "";
    case ValueKind::kChoice:
      return " -x -a " + fish_quoted(fmt::format("{}", fmt::join(values_of(app, option), " ")));
    case ValueKind::kFile:
      return " -r -F";
    case ValueKind::kFolder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::kAny:
      return " -x";
  }
  return "";
}

std::string fish_line(const CLI::App& app, const std::string& condition, const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) {
    names += " -s " + name;
  }
  for (const std::string& name : option.get_lnames()) {
    names += " -l " + name;
  }
  return fmt::format("complete -c dragoman -n {}{}{} -d {}\n", fish_quoted(condition), names, fish_values(app, option),
                     fish_quoted(brief(option.get_description())));
}

}  // namespace

std::string fish_completion(const CLI::App& app) {
  std::string script =
      "# Completion of dragoman in fish; \"dragoman completion fish\" prints it.\ncomplete -c dragoman -f\n";
  for (const CLI::Option* option : app.get_options()) {
    script += fish_line(app, "__fish_use_subcommand", *option);
  }
  for (const CLI::App* command : commands_of(app)) {
    script += fmt::format("complete -c dragoman -n __fish_use_subcommand -a {} -d {}\n", command->get_name(),
                          fish_quoted(brief(command->get_description())));
  }
  for (const CLI::App* command : commands_of(app)) {
    const std::string condition = "__fish_seen_subcommand_from " + command->get_name();
    for (const CLI::Option* option : command->get_options()) {
      script += fish_line(app, condition, *option);
    }
  }
  return script;
}

}  // namespace dragoman::cli
