#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dragoman::cli {

/// The rule that `value` breaks as a value of `option`: "must be a whole number", "must be 13a, intl, zh, char or none;
/// did you mean 13a?". Empty when the value is fine. Stricter than CLI11, which takes 010 for 8, -1 for the largest
/// unsigned number, and nothing at all for 0.
std::string broken_rule(const CLI::Option& option, const std::string& value);

/// What is wrong with a command line that CLI11 refused, for a person:
///   "--width is given 2 times, as 3 and 4; keep one"
///   "--hypothesis FILE and --reference FILE are required"
///   "--beam-sice: unknown option; did you mean --beam-size?"
std::string describe_usage_error(const CLI::App& app, const CLI::ParseError& error,
                                 const std::vector<std::string>& arguments);

/// "unknown command "evalute"; did you mean evaluate?"
std::string unknown_command(const CLI::App& app, const std::string& name);

/// Returns the command of that name. Throws: Error(kUsage) as `unknown_command` says.
const CLI::App& command_named(const CLI::App& app, const std::string& name);

/// Returns the message of an error in the names of the command line: "beam_size is 0, must be 1 to 128" as
/// "--beam-size is 0, must be 1 to 128", without the name of the command in front.
std::string in_flags(const CLI::App& command, const std::string& message);

/// What is wrong with the values of a command line that CLI11 took (see broken_rule); empty when nothing is.
std::string describe_wrong_value(const CLI::App& command);

/// Parses a command line of the one command that `app` has, and lets it check what it can without reading a file.
/// Throws: Error(kUsage) with what the functions above say.
void parse_words(CLI::App& app, const std::vector<std::string>& words);

/// The long names of the command's options, without dashes; --help and --config are left out.
std::vector<std::string> option_names(const CLI::App& command);

}  // namespace dragoman::cli
