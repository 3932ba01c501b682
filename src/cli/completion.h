#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace dragoman::cli {

/// Returns the shells that completion_script knows: bash, zsh, fish.
std::vector<std::string> completed_shells();

/// Returns the script that makes a shell complete commands, options, and the values of options: choices, files and
/// folders. Requires: `shell` is one of completed_shells.
std::string completion_script(const CLI::App& app, const std::string& shell);

/// Each returns the script of one shell.
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

/// What may stand as the value of an option or argument.
enum class ValueKind { kNone, kAny, kChoice, kFile, kFolder };

ValueKind value_kind(const CLI::Option& option);

/// Returns the values to choose from. They are the commands for the argument of `help`.
std::vector<std::string> values_of(const CLI::App& app, const CLI::Option& option);

/// Returns the first part of a description, up to a semicolon, colon or bracket: what stands beside a name in a menu.
std::string brief(const std::string& description);

}  // namespace dragoman::cli
