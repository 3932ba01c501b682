#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/durable_write.h"
#include "base/manifest.h"

namespace dragoman::base {

/// A writer of a folder of files that after any crash exists either as a whole or not at all. The steps are: create
/// FOLDER.tmp, write and fsync each file and manifest.json last, fsync the folder, rename it to FOLDER, fsync the
/// parent. A process that dies before `commit` leaves at most one FOLDER.tmp, which recover_folders removes. Every step
/// is retried after transient errors. Throws: Error(kCannotWrite); the old FOLDER is then unchanged. Requires: no other
/// process writes the folder (FolderLock). Threads: one thread at a time.
class FolderWriter {
 public:
  /// Creates an empty FOLDER.tmp and its parents, and removes a FOLDER.tmp that a dead process left.
  explicit FolderWriter(const std::filesystem::path& folder, const RetryPolicy& retry = {});
  /// Removes FOLDER.tmp unless `commit` has been called.
  ~FolderWriter();
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;

  /// Writes one file. Requires: is_file_name(name), and `name` is new.
  void add(const std::string& name, std::string_view content);
  /// Writes one file whose content lies in several places, such as a header and the memory of tensors, without a copy.
  void add(const std::string& name, std::span<const std::string_view> parts);
  /// Returns: FOLDER.tmp. Before `commit`, another FolderWriter may write a folder inside it.
  const std::filesystem::path& aside() const { return aside_; }
  /// Writes the manifest and renames FOLDER.tmp to FOLDER. An old FOLDER is swapped with the new one in one step and
  /// then removed. So readers find one of the two at every moment.
  void commit();

 private:
  void replace_existing();

  std::filesystem::path folder_;
  std::filesystem::path aside_;
  RetryPolicy retry_;
  Manifest manifest_;
  bool committed_ = false;
};

/// Removes a folder with its content. The folder is first renamed to FOLDER.tmp, so a kill in between leaves no damaged
/// FOLDER, and recover_folders removes the rest. Throws: Error(kCannotWrite) if the rename fails.
void remove_folder(const std::filesystem::path& folder);

/// Cleans up `parent` after a crash. A FOLDER.tmp whose files match its manifest is renamed to FOLDER if FOLDER is
/// missing. Every other *.tmp and *.replaced folder in `parent` is removed. Does nothing if `parent` does not exist.
/// Requires: the caller holds the lock (FolderLock).
void recover_folders(const std::filesystem::path& parent);

}  // namespace dragoman::base
