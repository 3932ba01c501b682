#pragma once

#include <string>

namespace dragoman::cli {

/// Returns the version of the program: "0.1.0".
const char* version_number();

/// Returns how the program was compiled: "release", "debug" or "sanitized".
const char* build_type();

/// Returns what --version prints: name, version and commit; compiler and build type; the instruction sets that the
/// program has kernels for, and the one that this machine gets.
std::string version_text();

}  // namespace dragoman::cli
