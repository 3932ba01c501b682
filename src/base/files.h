#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/durable_write.h"
#include "base/file_descriptor.h"
#include "base/sha256.h"

namespace dragoman::base {

/// Reads a whole file (or pipe).
/// Throws Error(kBadData): missing, directory, device, unreadable, or larger than `max_bytes` (checked before
/// allocating). Sample: "config.json: cannot open for reading: No such file or directory; check the path ...".
std::string read_file(const std::filesystem::path& path, uint64_t max_bytes = uint64_t{1} << 40);

/// Removes a file, or a folder with all it holds. What cannot be removed stays, without a word: for leavings that the
/// next writer removes too.
void remove_quietly(const std::filesystem::path& path);

/// Writes `content` so that the final name holds either the old bytes or all the new ones, whatever happens:
/// PATH.tmp, write, fsync, rename, fsync of the folder. Keeps an existing file's mode; a symbolic link stays and its
/// target is replaced; a pipe or device is written straight. Transient errors are retried (RetryPolicy), each time
/// from the start; then Error(kCannotWrite) with path, step and errno.
void write_file_atomic(const std::filesystem::path& path, std::string_view content, const RetryPolicy& retry = {});

/// A file written piece by piece, of any size, that takes its final name when it is whole: the bytes go to PATH.tmp,
/// and `commit` syncs and renames it. Until then, and for good when the writer goes without `commit`, the final name
/// holds what it held before. A process that is killed leaves PATH.tmp, which the next writer empties.
/// Modes and symbolic links as in write_file_atomic; not for pipes and devices, which cannot be renamed over.
class FileWriter {
 public:
  /// Throws Error(kCannotWrite): "out.de: cannot open: Permission denied (errno 13); ...", also for a directory;
  /// Error(kRuntime) when another writer is at the same file: "out.de: another process is writing it (it holds the lock
  /// on out.de.tmp); ...".
  explicit FileWriter(std::filesystem::path path, const RetryPolicy& retry = {});
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  /// Appends to PATH.tmp. What may pass (a full disk) is retried from where it stopped. Throws Error(kCannotWrite).
  void add(std::string_view bytes);
  /// Makes the file what PATH names. A failed fsync is final: the bytes that the kernel dropped are not here any more.
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

/// fsync of a folder: makes renames in it last through a power loss. Throws Error(kCannotWrite).
void sync_folder(const std::filesystem::path& folder);

}  // namespace dragoman::base
