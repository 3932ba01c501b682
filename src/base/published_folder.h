#pragma once

#include <filesystem>
#include <functional>

#include "base/checked_folder.h"
#include "base/folder_writer.h"

namespace dragoman::base {

/// Replaces the set of files directly in `folder`, under fixed names, while others may be reading them, so that a
/// whole set can be read at every moment and after `kill -9` at any moment:
///   1. the set is written to FOLDER/.next.tmp and becomes FOLDER/.next in one rename: from here on it counts;
///   2. each file of .next is hard-linked (or copied) over its name in FOLDER, manifest.json last;
///   3. files that only the old manifest names are removed; .next is renamed away and deleted.
/// Other files in FOLDER are not touched. Needs: one writer (FolderLock). Throws Error(kCannotWrite); the
/// old set (before step 2) or the new one can then be read.
/// @param fill  adds the files of the set to the writer; must not commit
void publish_files(const std::filesystem::path& folder, const std::function<void(FolderWriter&)>& fill,
                   const RetryPolicy& retry = {});

/// Ends a publication that a crash cut short: goes on from step 2 if .next is there and whole, else removes it.
/// For the next writer; readers need it not.
void finish_publication(const std::filesystem::path& folder, const RetryPolicy& retry = {});

/// Calls `read` with the files directly in `folder`. When that throws an Error because a writer is (or died) between
/// the renames of step 2, `read` is called again with the complete set in .next, or with the new files once the
/// writer is through. An error that is not of that kind goes to the caller.
void read_published(const std::filesystem::path& folder, const std::function<void(const CheckedFolder&)>& read);

}  // namespace dragoman::base
