#include "base/published_folder.h"

#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/error.h"
#include "base/files.h"

namespace dragoman::base {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNextName = ".next";
constexpr const char* kLinkName = ".link.tmp";
constexpr int kMaxReads = 20;  // a writer would have to publish that often while one reader reads

bool lacks_hard_links(int error) {
  return error == EPERM || error == ENOTSUP || error == ENOSYS || error == EMLINK || error == EXDEV;
}

// Puts a second name for the file `from` over `to` in one step.
WriteFailure try_link_over(const fs::path& from, const fs::path& to) {
  const fs::path link = to.parent_path() / kLinkName;
  remove_quietly(link);
  if (::link(from.c_str(), link.c_str()) != 0) {
    return {"link", errno};
  }
  const WriteFailure failure = try_rename(link, to);
  remove_quietly(link);  // rename leaves it when both names were of one file already
  return failure;
}

void put_over(const fs::path& from, const fs::path& to, const RetryPolicy& retry) {
  const WriteFailure failure = retry_transient(retry, [&] { return try_link_over(from, to); });
  if (failure && lacks_hard_links(failure.error)) {
    write_file_atomic(to, read_file(from), retry);
    return;
  }
  check_written(failure, to);
}

// The manifest directly in `folder`, if there is a sound one.
std::optional<Manifest> manifest_in(const fs::path& folder) {
  try {
    return CheckedFolder(folder).manifest();
  } catch (const Error&) {
    return std::nullopt;
  }
}

void remove_unlisted(const fs::path& folder, const std::optional<Manifest>& old, const Manifest& current) {
  for (const auto& [name, record] : old.value_or(Manifest{}).files) {
    if (!current.files.contains(name)) {
      remove_quietly(folder / name);
    }
  }
}

// Step 2 and 3 of publish_files. May be repeated from its start at any point.
void put_next_in_place(const fs::path& folder, const RetryPolicy& retry) {
  const fs::path next = folder / kNextName;
  const Manifest manifest = CheckedFolder(next).manifest();
  const std::optional<Manifest> old = manifest_in(folder);
  for (const auto& [name, record] : manifest.files) {
    put_over(next / name, folder / name, retry);
  }
  // The names must last before the manifest that relies on them does.
  check_written(retry_transient(retry, [&] { return try_sync_folder(folder); }), folder);
  put_over(next / kManifestName, folder / kManifestName, retry);
  check_written(retry_transient(retry, [&] { return try_sync_folder(folder); }), folder);
  remove_unlisted(folder, old, manifest);
  // Renamed first: a .next that is seen is always whole.
  const fs::path done = folder / (std::string(kNextName) + ".tmp");
  remove_quietly(done);
  check_written(retry_transient(retry, [&] { return try_rename(next, done); }), next);
  remove_quietly(done);
}

// What a reader can see of a publication: every step of one that hides a file from a reader changes this.
struct Moment {
  std::optional<Manifest> top, next;
  bool operator==(const Moment&) const = default;
};

Moment moment_of(const fs::path& folder) {
  return {manifest_in(folder), manifest_in(folder / kNextName)};
}

// Tries the set in .next. False if there is none, or if it goes away meanwhile.
bool read_next(const fs::path& folder, const std::function<void(const CheckedFolder&)>& read) {
  try {
    read(CheckedFolder(folder / kNextName));
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void publish_files(const fs::path& folder, const std::function<void(FolderWriter&)>& fill, const RetryPolicy& retry) {
  finish_publication(folder, retry);
  FolderWriter writer(folder / kNextName, retry);
  fill(writer);
  writer.commit();
  put_next_in_place(folder, retry);
}

void finish_publication(const fs::path& folder, const RetryPolicy& retry) {
  remove_quietly(folder / (std::string(kNextName) + ".tmp"));
  remove_quietly(folder / kLinkName);
  if (is_valid_folder(folder / kNextName)) {
    put_next_in_place(folder, retry);
  } else {
    remove_quietly(folder / kNextName);
  }
}

void read_published(const fs::path& folder, const std::function<void(const CheckedFolder&)>& read) {
  for (int reads = 1;; ++reads) {
    const Moment before = moment_of(folder);
    try {
      read(CheckedFolder(folder));
      return;
    } catch (const Error&) {
      // Files that match neither set are damaged, unless a writer moved on while they were read.
      if (read_next(folder, read)) {
        return;
      }
      if (reads == kMaxReads || moment_of(folder) == before) {
        throw;
      }
    }
  }
}

}  // namespace dragoman::base
