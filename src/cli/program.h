#pragma once

namespace dragoman::cli {

/// Runs the program `dragoman` with the arguments of `main`. A program that links this library may bring architectures
/// of its own (models/architectures/more_architectures.h), and then has all commands for them.
/// Returns: the exit status, 0 or the base::ErrorKind of the failure; 130 or 143 after a signal.
int run(int argc, char** argv);

}  // namespace dragoman::cli
