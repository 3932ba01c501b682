#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dragoman::cli {

/// Returns the name of the manual page of the program or of a command: "dragoman-train".
std::string man_page_name(const CLI::App& command);

/// Returns the manual page of the program or of a command, in the man macros of roff.
std::string man_page(const CLI::App& command);

}  // namespace dragoman::cli
