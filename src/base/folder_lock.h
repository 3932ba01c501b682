#pragma once

#include <filesystem>

#include "base/file_descriptor.h"

namespace dragoman::base {

/// Takes the exclusive flock(2) of an open file, if nobody has it. Returns 0, or errno: EWOULDBLOCK when another
/// process has it.
int try_lock(int file);

/// Holds a folder for one writing process. The lock is an flock(2) on FOLDER/.lock: the kernel lets go of it however
/// the process ends, so there is nothing to clean up after `kill -9`; the file itself stays and holds the last owner's
/// process id as text. Readers do not ask for it.
class FolderLock {
 public:
  /// Throws Error(kRuntime) when another process holds it: "models/en-de: in use by process 4711 (dragoman train);
  /// wait for it, stop it, or choose another folder". Error(kCannotWrite) when the lock file cannot be made.
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  FileDescriptor file_;
};

}  // namespace dragoman::base
