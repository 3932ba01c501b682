#pragma once

#include <filesystem>

#include "base/file_descriptor.h"

namespace dragoman::base {

/// Takes the exclusive flock(2) of an open file without waiting. Returns 0 for success, otherwise errno: EWOULDBLOCK if
/// another process holds the lock.
[[nodiscard]] int try_lock(int file);

/// A lock that reserves a folder for one writing process. The lock is an flock(2) on FOLDER/.lock. The kernel releases
/// it at every end of the process, so `kill -9` leaves nothing to clean up. The file stays and holds the process id of
/// its last owner as text. Readers do not take the lock.
class [[nodiscard]] FolderLock {
 public:
  /// Throws: Error(kRuntime) if another process holds the lock, "models/en-de: in use by process 4711 (dragoman train);
  /// wait for it, stop it, or choose another folder"; Error(kCannotWrite) if the lock file cannot be created.
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  FileDescriptor file_;
};

}  // namespace dragoman::base
