#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/durable_write.h"
#include "base/manifest.h"

namespace dragoman::base {

/// Writes a folder of files so that it is there whole or not at all, whatever happens: FOLDER.tmp is made, each file
/// is written and fsynced in it, manifest.json last, the folder fsynced, renamed to FOLDER, and the parent fsynced.
/// A writer that dies without commit() leaves at most one FOLDER.tmp, which recover_folders removes.
/// Every step is retried on transient errors; then Error(kCannotWrite), and what was there before is untouched.
/// Not thread safe. Needs: no other process writes the same folder (FolderLock).
class FolderWriter {
 public:
  /// Makes an empty FOLDER.tmp (and the parents), removing one left by a run that died.
  explicit FolderWriter(const std::filesystem::path& folder, const RetryPolicy& retry = {});
  /// Removes FOLDER.tmp unless committed.
  ~FolderWriter();
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;

  /// Writes one file; `name` must pass is_file_name and be new.
  void add(const std::string& name, std::string_view content);
  /// The same for content that lies in several places (a header and the memory of tensors), without copying it.
  void add(const std::string& name, std::span<const std::string_view> parts);
  /// Writes the manifest and gives the folder its final name. A folder that had the name is swapped with the new one
  /// in one step and then removed, so that readers find one of the two at every moment.
  void commit();

 private:
  void replace_existing();

  std::filesystem::path folder_;
  std::filesystem::path aside_;
  RetryPolicy retry_;
  Manifest manifest_;
  bool committed_ = false;
};

/// Removes a folder with all its files so that, killed halfway, no damaged one stays under its name: it is renamed to
/// FOLDER.tmp first, which recover_folders looks after. Throws Error(kCannotWrite) when the rename fails.
void remove_folder(const std::filesystem::path& folder);

/// Tidies `parent` after a crash: a FOLDER.tmp that is complete (its files match its manifest) and whose FOLDER is
/// missing gets its final name; every other *.tmp and *.replaced folder in `parent` is removed. Needs: the caller
/// holds the lock. Nothing happens when `parent` does not exist.
void recover_folders(const std::filesystem::path& parent);

}  // namespace dragoman::base
