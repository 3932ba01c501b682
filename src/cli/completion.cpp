#include "cli/completion.h"

#include <algorithm>

#include "cli/option_text.h"

namespace dragoman::cli {
namespace {

struct Shell {
  const char* name;
  std::string (*script)(const CLI::App&);
};
constexpr Shell kShells[] = {{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};

}  // namespace

std::vector<std::string> completed_shells() {
  std::vector<std::string> names;
  for (const Shell& shell : kShells) {
    names.emplace_back(shell.name);
  }
  return names;
}

std::string completion_script(const CLI::App& app, const std::string& shell) {
  return std::ranges::find(kShells, shell, &Shell::name)->script(app);
}

ValueKind value_kind(const CLI::Option& option) {
  const std::string name = value_name(option);
  if (name.empty()) {
    return ValueKind::kNone;
  }
  if (!choices_of(option).empty() || name == "BOOLEAN" || name == "COMMAND") {
    return ValueKind::kChoice;
  }
  return name == "FILE" ? ValueKind::kFile : name == "DIR" ? ValueKind::kFolder : ValueKind::kAny;
}

std::vector<std::string> values_of(const CLI::App& app, const CLI::Option& option) {
  if (value_name(option) == "BOOLEAN") {
    return {"true", "false"};
  }
  if (value_name(option) != "COMMAND") {
    return choices_of(option);
  }
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) {
    names.push_back(command->get_name());
  }
  return names;
}

std::string brief(const std::string& description) {
  return description.substr(0, std::min({description.find(';'), description.find(": "), description.find(" (")}));
}

}  // namespace dragoman::cli
