#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/signals.h"

namespace dragoman::study {

/// Runs a program and waits for its end. Standard input is empty. SIGTERM to this process is handed on; an interrupt of
/// the terminal reaches both. When this process dies, even by SIGKILL, the kernel kills the program too, so that no
/// orphan keeps a folder locked.
/// @param program  open for reading; the file may have been replaced since. Not a script
/// @param words   the name of the program and its arguments
/// @param output  file for standard output, which appears at the end of a program that succeeded; empty: that of this
///                process
/// Returns: the exit status, or 128 + the signal that ended the program. Throws: Error(kRuntime) if it cannot start.
/// Requires: the calling thread lives until this process ends.
int run_child(const base::FileDescriptor& program, const std::vector<std::string>& words,
              const std::filesystem::path& output, const base::StopSignals& signals);

}  // namespace dragoman::study
