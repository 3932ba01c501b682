#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion.h"
#include "cli/option_text.h"

namespace dragoman::cli {
namespace {

constexpr const char* kZshBegin = R"(#compdef dragoman
# Completion of dragoman in zsh; "dragoman completion zsh" prints it.
_dragoman() {
  local curcontext=$curcontext state line
  typeset -A opt_args
)";

// The file serves both as a function of $fpath, which zsh calls, and as a script, which defines the function.
constexpr const char* kZshEnd = R"(
if [[ ${funcstack[1]-} == _dragoman ]]; then
  _dragoman "$@"
else
  compdef _dragoman dragoman
fi
)";

// Text between single quotes, with a backslash in front of what _arguments and _describe read as their own.
std::string zsh_escaped(const std::string& text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += special.find(c) != std::string_view::npos ? std::string{'\\', c} : std::string{c};
    }
  }
  return result;
}

std::string zsh_action(const CLI::App& app, const CLI::Option& option) {
  switch (value_kind(option)) {
    case ValueKind::kChoice:
      return fmt::format("({})", fmt::join(values_of(app, option), " "));
    case ValueKind::kFile:
      return "_files";
    case ValueKind::kFolder:
      return "_files -/";
    default:
      return " ";
  }
}

// '(-m --model)'{-m+,--model=}'[Model folder]:DIR:_files -/'
std::string specification(const CLI::App& app, const CLI::Option& option) {
  const bool has_value = value_kind(option) != ValueKind::kNone;
  const std::vector<std::string> names = dashed_names(option);
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    shown.push_back(name + (!has_value ? "" : name.starts_with("--") ? "=" : "+"));
  }
  const std::string meaning = "[" + zsh_escaped(brief(option.get_description()), "[]\\:") + "]";
  const std::string value = has_value ? ":" + value_name(option) + ":" + zsh_action(app, option) : "";
  const std::string before = takes_several(option) ? "'*'" : fmt::format("'({})'", fmt::join(names, " "));
  const std::string forms = shown.size() == 1 ? "'" + shown.front() : fmt::format("{{{}}}'", fmt::join(shown, ","));
  return before + forms + meaning + value + "'";
}

std::string arguments_call(const CLI::App& app, const CLI::App& command, const std::string& indent) {
  std::string call = "_arguments";
  for (const CLI::Option* option : command.get_options()) {
    call += " \\\n" + indent + "  ";
    call += option->nonpositional() ? specification(app, *option)
                                    : "'1:" + value_name(*option) + ":" + zsh_action(app, *option) + "'";
  }
  return call;
}

std::string zsh_branch(const CLI::App& app, const CLI::App& command) {
  return fmt::format("        {})\n          {}\n          ;;\n", command.get_name(),
                     arguments_call(app, command, "          "));
}

}  // namespace

std::string zsh_completion(const CLI::App& app) {
  std::string commands;
  std::string branches;
  for (const CLI::App* command : commands_of(app)) {
    commands +=
        fmt::format("        '{}:{}'\n", command->get_name(), zsh_escaped(brief(command->get_description()), ":\\"));
    branches += zsh_branch(app, *command);
  }
  return kZshBegin +
         fmt::format("  {} \\\n    '1:command:->command' \\\n    '*::argument:->arguments'\n",
                     "_arguments -C" + arguments_call(app, app, "  ").substr(std::string("_arguments").size())) +
         fmt::format(
             "  case $state in\n    command)\n      local -a commands=(\n{}      )\n"
             "      _describe -t commands command commands\n      ;;\n    arguments)\n"
             "      case $line[1] in\n{}      esac\n      ;;\n  esac\n}}\n",
             commands, branches) +
         kZshEnd;
}

}  // namespace dragoman::cli
