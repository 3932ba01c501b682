#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace dragoman::cli {

/// The title of the options that every command has. It comes last in --help.
inline constexpr const char* kEverywhere = "Of every command";

/// Options of a command under one title.
struct OptionGroup {
  std::string title;
  std::vector<const CLI::Option*> options;
};

/// Returns the options of a command by title, without those that have no name: what --help, the manual and the
/// completions of the shells go through. The most used come first, the rest in the order of their first options.
std::vector<OptionGroup> option_groups(const CLI::App& command);

/// Returns the arguments of a command that follow no name of an option: the folder of `dragoman import`.
std::vector<const CLI::Option*> positionals(const CLI::App& command);

/// Returns all commands in order.
std::vector<const CLI::App*> commands_of(const CLI::App& app);

/// Commands under one title.
struct TitledCommands {
  std::string title;
  std::vector<const CLI::App*> commands;
};

/// Returns the commands by title, in order; none for a command, which has no commands of its own.
std::vector<TitledCommands> titled_commands(const CLI::App& app);

/// Returns the command that the arguments chose, or `app` if they chose none.
const CLI::App& chosen_command(const CLI::App& app);

/// Returns "dragoman" or "dragoman train".
std::string full_name(const CLI::App& command);

/// Returns how to call a command, with what it cannot do without: "dragoman score --model DIR --source FILE ...
/// [OPTION]...".
std::string usage_of(const CLI::App& command);

/// Returns the names of an option with their dashes, short ones first: "-m", "--model".
std::vector<std::string> dashed_names(const CLI::Option& option);

/// The values that an option takes, in order; empty when it takes any.
std::vector<std::string> choices_of(const CLI::Option& option);

/// What --help calls the value of an option: "FILE"; empty for a flag.
std::string value_name(const CLI::Option& option);

/// Returns an option that is required, as it must be given: "--model DIR", "--from hf-marian", "DIR".
std::string with_value(const CLI::Option& option);

/// Returns true for an option that may have several values or be given several times.
bool takes_several(const CLI::Option& option);

/// Returns meaning, choices and default: "How BLEU cuts words [13a, intl or none; default: 13a]".
std::string explanation(const CLI::Option& option);

/// "13a, intl or none" for `last_word` "or".
std::string listed(std::vector<std::string> words, const std::string& last_word);

}  // namespace dragoman::cli
