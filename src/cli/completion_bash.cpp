#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "cli/completion.h"
#include "cli/option_text.h"

namespace dragoman::cli {
namespace {

// "--model=x" reaches the function as three words.
constexpr const char* kBashBegin = R"(# Completion of dragoman in bash; "dragoman completion bash" prints it.
_dragoman() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local command='' options='' values='' kind='' i
  if [ "$word" = = ]; then
    word=''
  elif [ "$before" = = ] && [ "$COMP_CWORD" -ge 2 ]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      -*) ;;
      *)
        command=${COMP_WORDS[i]}
        break
        ;;
    esac
  done
  case $command in
)";

constexpr const char* kBashEnd = R"(  esac
  COMPREPLY=()
  case $kind in
    file | folder) compopt -o filenames 2>/dev/null ;;
  esac
  case $kind in
    choice) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word") ;;
    file) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    folder) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    any) ;;
    *)
      case $word in
        -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
        *) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word") ;;
      esac
      ;;
  esac
}
complete -F _dragoman dragoman
)";

std::string bash_values(const CLI::App& app, const CLI::Option& option) {
  switch (value_kind(option)) {
    case ValueKind::kChoice:
      return fmt::format("kind=choice values='{}'", fmt::join(values_of(app, option), " "));
    case ValueKind::kFile:
      return "kind=file";
    case ValueKind::kFolder:
      return "kind=folder";
    default:
      return "kind=any";
  }
}

// What follows the name of an option. Options with the same values share a line.
std::string values_after(const CLI::App& app, const CLI::App& command) {
  std::map<std::string, std::vector<std::string>> names_of;
  for (const CLI::Option* option : command.get_options()) {
    if (option->nonpositional() && value_kind(*option) != ValueKind::kNone) {
      for (const std::string& name : dashed_names(*option)) {
        names_of[bash_values(app, *option)].push_back(name);
      }
    }
  }
  std::string cases;
  for (const auto& [values, names] : names_of) {
    cases += fmt::format("        {}) {} ;;\n", fmt::join(names, " | "), values);
  }
  return cases.empty() ? "" : "      case $before in\n" + cases + "      esac\n";
}

std::vector<std::string> all_names(const CLI::App& command) {
  std::vector<std::string> all;
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string> names = dashed_names(*option);
    all.insert(all.end(), names.begin(), names.end());
  }
  return all;
}

// Of an argument without a name: its values are offered where no option begins.
std::string bash_argument(const CLI::App& app, const CLI::App& command) {
  const std::vector<const CLI::Option*> arguments = positionals(command);
  if (arguments.empty()) {
    return "";
  }
  return value_kind(*arguments.front()) == ValueKind::kChoice
             ? fmt::format("      values='{}'\n", fmt::join(values_of(app, *arguments.front()), " "))
             : "      case $word in -*) ;; *) kind=folder ;; esac\n";
}

std::string bash_branch(const CLI::App& app, const CLI::App& command) {
  return fmt::format("    {})\n      options='{}'\n{}{}      ;;\n", command.get_name(),
                     fmt::join(all_names(command), " "), bash_argument(app, command), values_after(app, command));
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> names;
  std::string branches;
  for (const CLI::App* command : commands_of(app)) {
    names.push_back(command->get_name());
    branches += bash_branch(app, *command);
  }
  return kBashBegin +
         fmt::format("    '')\n      options='{}'\n      values='{}'\n      ;;\n", fmt::join(all_names(app), " "),
                     fmt::join(names, " ")) +
         branches + kBashEnd;
}

}  // namespace dragoman::cli
