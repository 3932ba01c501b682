#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dragoman::cli {

/// Returns the flag of `command` for a field of an options struct: "--nbest" for n_best; the name itself if the command
/// has no such flag. The tables of the fields say which flag is whose.
std::string flag_of(const CLI::App& command, const std::string& field);

}  // namespace dragoman::cli
