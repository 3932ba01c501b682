#include "base/folder_writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cerrno>
#include <vector>

#include "base/checked_folder.h"
#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"

namespace dragoman::base {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAsideSuffix = ".tmp";
constexpr const char* kReplacedSuffix = ".replaced";

fs::path with_suffix(const fs::path& folder, const char* suffix) {
  fs::path named = folder;
  named += suffix;
  return named;
}

WriteFailure try_make_empty(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) {
    fs::create_directories(parent_folder(folder), error);
  }
  if (error) {
    return {"make the folder", error.value()};
  }
  return ::mkdir(folder.c_str(), 0777) == 0 ? WriteFailure{} : WriteFailure{"make the folder", errno};
}

// Swaps two names in one step. ENOSYS or EINVAL: this kernel or file system cannot.
WriteFailure try_exchange(const fs::path& a, const fs::path& b) {
  const int result = ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE);
  return result == 0 ? WriteFailure{} : WriteFailure{"rename", errno};
}

// The folders in `parent` whose names end in `suffix`.
std::vector<fs::path> folders_ending(const fs::path& parent, const char* suffix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code unknown;
    if (entry->path().extension() == suffix && entry->symlink_status(unknown).type() == fs::file_type::directory) {
      found.push_back(entry->path());
    }
  }
  return found;
}

}  // namespace

FolderWriter::FolderWriter(const fs::path& folder, const RetryPolicy& retry)
    : folder_(folder), aside_(with_suffix(folder, kAsideSuffix)), retry_(retry) {
  check_written(retry_transient(retry_, [&] { return try_make_empty(aside_); }), aside_);
}

FolderWriter::~FolderWriter() {
  if (!committed_) {
    remove_quietly(aside_);
  }
}

void FolderWriter::add(const std::string& name, std::string_view content) {
  add(name, {&content, 1});
}

void FolderWriter::add(const std::string& name, std::span<const std::string_view> parts) {
  check_argument(is_file_name(name) && !manifest_.files.contains(name),
                 "{}: cannot add a file '{}': a name is new, of letters, digits, '.', '_' and '-'", folder_.string(),
                 name);
  FileRecord record;
  Sha256 hash;
  for (const std::string_view part : parts) {
    hash.update(part);
    record.size += part.size();
  }
  record.sha256 = hash.hex();
  check_written(retry_transient(retry_, [&] { return write_and_sync(aside_ / name, parts); }), folder_ / name);
  manifest_.files[name] = record;
}

void FolderWriter::commit() {
  const std::string text = to_text(manifest_);
  const std::string_view part = text;
  check_written(retry_transient(retry_,
                                [&] {
                                  return write_and_sync(aside_ / kManifestName, {&part, 1});
                                }),
                folder_ / kManifestName);
  check_written(retry_transient(retry_, [&] { return try_sync_folder(aside_); }), folder_);
  if (path_exists(folder_)) {
    replace_existing();
  } else {
    check_written(retry_transient(retry_, [&] { return try_rename(aside_, folder_); }), folder_);
  }
  committed_ = true;
  const fs::path parent = parent_folder(folder_);
  check_written(retry_transient(retry_, [&] { return try_sync_folder(parent); }), parent);
  remove_quietly(aside_);
}

void FolderWriter::replace_existing() {
  const WriteFailure failure = retry_transient(retry_, [&] { return try_exchange(aside_, folder_); });
  if (failure.error != ENOSYS && failure.error != EINVAL) {
    check_written(failure, folder_);
    return;
  }
  // Between these two renames the new folder waits complete under FOLDER.tmp: recover_folders gives it its name.
  const fs::path replaced = with_suffix(folder_, kReplacedSuffix);
  remove_quietly(replaced);
  check_written(retry_transient(retry_, [&] { return try_rename(folder_, replaced); }), folder_);
  const WriteFailure second = retry_transient(retry_, [&] { return try_rename(aside_, folder_); });
  if (second) {
    [[maybe_unused]] const WriteFailure undo = try_rename(replaced, folder_);
  }
  check_written(second, folder_);
  remove_quietly(replaced);
}

void remove_folder(const fs::path& folder) {
  const fs::path aside = with_suffix(folder, kAsideSuffix);
  remove_quietly(aside);
  check_written(retry_transient({}, [&] { return try_rename(folder, aside); }), folder);
  remove_quietly(aside);
}

void recover_folders(const fs::path& parent) {
  for (const fs::path& aside : folders_ending(parent, kAsideSuffix)) {
    const fs::path folder = parent / aside.stem();
    if (!path_exists(folder) && is_valid_folder(aside)) {
      check_written(retry_transient({}, [&] { return try_rename(aside, folder); }), folder);
      check_written(retry_transient({}, [&] { return try_sync_folder(parent); }), parent);
    } else {
      remove_quietly(aside);
    }
  }
  for (const fs::path& replaced : folders_ending(parent, kReplacedSuffix)) {
    if (path_exists(parent / replaced.stem())) {
      remove_quietly(replaced);
    } else {
      check_written(retry_transient({}, [&] { return try_rename(replaced, parent / replaced.stem()); }), replaced);
    }
  }
}

}  // namespace dragoman::base
