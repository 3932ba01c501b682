#include "cli/option_text.h"

#include <algorithm>

#include "base/fields.h"

namespace dragoman::cli {
namespace {

// CLI11 calls the type of an option with choices "TEXT:{bleu,chrf}".
constexpr std::string_view kChoicesMark = ":{";

// Empty for an option that has none: nothing shown is nothing assumed.
std::string default_value(const CLI::Option& option) {
  std::string text = option.get_default_str();
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
  }
  if (option.get_type_name() == "BOOLEAN") {
    return text == "1" ? "true" : "false";
  }
  return text == "\"\"" ? "" : text;
}

std::string choices_note(const CLI::Option& option) {
  const std::vector<std::string> names = choices_of(option);
  return (names.size() == 1 ? "only " : "") + listed(names, "or");
}

int rank_of(const std::string& title) {
  return title == base::kMostUsed ? 0 : title == kEverywhere ? 2 : 1;
}

}  // namespace

std::vector<OptionGroup> option_groups(const CLI::App& command) {
  std::vector<OptionGroup> groups;
  for (const CLI::Option* option : command.get_options([](const CLI::Option* o) { return o->nonpositional(); })) {
    auto group = std::ranges::find(groups, option->get_group(), &OptionGroup::title);
    if (group == groups.end()) {
      group = groups.insert(groups.end(), {option->get_group(), {}});
    }
    group->options.push_back(option);
  }
  std::ranges::stable_sort(groups, {}, [](const OptionGroup& group) { return rank_of(group.title); });
  return groups;
}

std::vector<const CLI::Option*> positionals(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return !option->nonpositional(); });
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<TitledCommands> titled_commands(const CLI::App& app) {
  std::vector<TitledCommands> groups;
  for (const CLI::App* command : commands_of(app)) {
    if (groups.empty() || groups.back().title != command->get_group()) {
      groups.push_back({command->get_group(), {}});
    }
    groups.back().commands.push_back(command);
  }
  return groups;
}

const CLI::App& chosen_command(const CLI::App& app) {
  return app.get_subcommands().empty() ? app : *app.get_subcommands().front();
}

std::string full_name(const CLI::App& command) {
  return command.get_parent() == nullptr ? command.get_name()
                                         : full_name(*command.get_parent()) + " " + command.get_name();
}

std::string usage_of(const CLI::App& command) {
  std::string usage = full_name(command);
  if (!commands_of(command).empty()) {
    usage += " COMMAND";
  }
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_required()) {
      usage += " " + with_value(*option);
    } else if (!option->nonpositional()) {
      usage += " [" + value_name(*option) + "]";
    }
  }
  return usage + " [OPTION]...";
}

std::vector<std::string> dashed_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) {
    names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type_name = option.get_type_name();
  const size_t mark = type_name.find(kChoicesMark);
  if (mark == std::string::npos) {
    return {};
  }
  const size_t begin = mark + kChoicesMark.size();
  return CLI::detail::split(type_name.substr(begin, type_name.find('}', begin) - begin), ',');
}

std::string value_name(const CLI::Option& option) {
  const std::string type_name = option.get_type_name();
  return option.get_type_size() == 0 ? "" : type_name.substr(0, type_name.find(kChoicesMark));
}

std::string with_value(const CLI::Option& option) {
  const std::vector<std::string> choices = choices_of(option);
  const std::string value = choices.size() == 1 ? choices.front() : value_name(option);
  return option.nonpositional() ? dashed_names(option).back() + " " + value : value;
}

bool takes_several(const CLI::Option& option) {
  return option.get_expected_max() == CLI::detail::expected_max_vector_size;
}

std::string explanation(const CLI::Option& option) {
  std::vector<std::string> notes;
  const auto add_note = [&notes](const char* label, const std::string& text) {
    if (!text.empty()) {
      notes.push_back(label + text);
    }
  };
  if (option.get_type_size() != 0) {
    add_note("", option.get_required() ? "required" : "");
    add_note("", choices_note(option));
    add_note("default: ", default_value(option));
  }
  return option.get_description() + (notes.empty() ? "" : " [" + CLI::detail::join(notes, "; ") + "]");
}

std::string listed(std::vector<std::string> words, const std::string& last_word) {
  if (words.size() < 2) {
    return words.empty() ? "" : words.front();
  }
  const std::string last = words.back();
  words.pop_back();
  return CLI::detail::join(words, ", ") + " " + last_word + " " + last;
}

}  // namespace dragoman::cli
