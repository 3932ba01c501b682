#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/durable_write.h"
#include "base/file_descriptor.h"
#include "base/sha256.h"

namespace dragoman::base {

/// Returns all bytes of a file or pipe.
/// Throws: Error(kBadData) if the file is missing, unreadable, a directory, a device, or larger than `max_bytes`, which
/// is checked before memory is allocated: "config.json: cannot open for reading: No such file or directory; check the
/// path and its permissions".
std::string read_file(const std::filesystem::path& path, uint64_t max_bytes = uint64_t{1} << 40);

/// Removes a file, or a folder with its content, and ignores errors. Meant for leftovers that the next writer removes
/// too.
void remove_quietly(const std::filesystem::path& path);

/// Writes `content` so that after any crash PATH holds either all old bytes or all new ones. The steps are: write
/// PATH.tmp, fsync, rename, fsync of the folder. The mode of an existing file is kept. The target of a symbolic link is
/// replaced and the link stays. A pipe or device is written directly.
/// Transient errors are retried from the first step (RetryPolicy). Throws: Error(kCannotWrite) with path, step and
/// errno.
void write_file_atomic(const std::filesystem::path& path, std::string_view content, const RetryPolicy& retry = {});

/// A writer of a file of any size, in pieces. The bytes go to PATH.tmp, which `commit` syncs and renames to PATH.
/// Without `commit` PATH keeps its old content. A killed process leaves PATH.tmp, which the next writer empties. Modes
/// and symbolic links are treated as in write_file_atomic. Pipes and devices are refused, because a file cannot replace
/// them by renaming.
class FileWriter {
 public:
  /// Throws: Error(kCannotWrite), also for a directory, "out.de: cannot open: Permission denied (errno 13); ...";
  /// Error(kRuntime) if another process writes the file, "out.de: another process is writing it (it holds the lock on
  /// out.de.tmp); ...".
  explicit FileWriter(std::filesystem::path path, const RetryPolicy& retry = {});
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  /// Appends to PATH.tmp. After a transient error, such as a full disk, writing resumes behind the last written byte.
  /// Throws: Error(kCannotWrite).
  void add(std::string_view bytes);
  /// Renames PATH.tmp to PATH. A failed fsync is not retried, because the writer no longer holds the bytes that the
  /// kernel may have dropped. Throws: Error(kCannotWrite).
  void commit();

 private:
  WriteFailure open_aside();

  std::filesystem::path path_;    // as given, for errors
  std::filesystem::path target_;  // behind symbolic links
  std::filesystem::path aside_;
  RetryPolicy retry_;
  FileDescriptor file_;
  bool committed_ = false;
};

/// Calls fsync(2) on a folder, so that renames inside it survive a power loss. Throws: Error(kCannotWrite).
void sync_folder(const std::filesystem::path& folder);

}  // namespace dragoman::base
