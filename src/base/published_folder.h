#pragma once

#include <filesystem>
#include <functional>

#include "base/checked_folder.h"
#include "base/folder_writer.h"

namespace dragoman::base {

/// Replaces the set of files directly in `folder`, under fixed names, while other processes may read them. Readers find
/// a complete set at every moment, also after `kill -9`:
///   1. The set is written to FOLDER/.next.tmp, which one rename turns into FOLDER/.next. From here on the new set
///   counts.
///   2. Each file of .next is hard-linked or copied to its name in FOLDER, manifest.json last.
///   3. Files that only the old manifest names are removed. Then .next is renamed and deleted.
/// Other files in FOLDER stay unchanged.
/// @param fill  adds the files of the set to the writer
/// Requires: one writer (FolderLock); `fill` does not commit.
/// Throws: Error(kCannotWrite). Before step 2 the old set can then be read, afterwards the new one.
void publish_files(const std::filesystem::path& folder, const std::function<void(FolderWriter&)>& fill,
                   const RetryPolicy& retry = {});

/// Completes a publication that a crash has interrupted. Continues with step 2 if .next is complete; otherwise removes
/// .next. Writers call it; readers do not need it. Requires: one writer (FolderLock).
void finish_publication(const std::filesystem::path& folder, const RetryPolicy& retry = {});

/// Calls `read` with the files directly in `folder`. `read` may throw an Error because a writer is between the renames
/// of step 2, or has died there. Then `read` is called again with the complete set in .next, or with the new files
/// after the writer has finished. Any other error is passed on to the caller.
void read_published(const std::filesystem::path& folder, const std::function<void(const CheckedFolder&)>& read);

}  // namespace dragoman::base
