#pragma once

#include <string>
#include <vector>

namespace dragoman::cli {

/// Runs the program `dragoman` with the arguments of `main`. A program that links this library may bring architectures
/// of its own (models/architectures/more_architectures.h), and then has all commands for them.
/// Returns: the exit status, 0 or the base::ErrorKind of the failure; 130 or 143 after a signal.
int run(int argc, char** argv);

/// Runs a command of the program within this process. @param words  its name and arguments
/// Returns: its exit status, messages on wrong usage printed. Throws: base::Error and what else the command throws.
int run_words(std::vector<std::string> words);

}  // namespace dragoman::cli
