#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/error.h"
#include "base/file_reader.h"

namespace dragoman::base {
namespace {

namespace fs = std::filesystem;

/// The file that a chain of symbolic links ends at, so that the links stay links.
fs::path link_target(const fs::path& path) {
  std::error_code ignored;
  const bool is_link = fs::is_symlink(path, ignored);
  const fs::path target = is_link ? fs::weakly_canonical(path, ignored) : path;
  return target.empty() ? path : target;
}

WriteFailure replace_file(const fs::path& path, std::span<const std::string_view> parts, mode_t mode) {
  fs::path aside = path;
  aside += ".tmp";
  WriteFailure failure = write_and_sync(aside, parts, mode);
  if (!failure) {
    failure = try_rename(aside, path);
  }
  if (failure) {
    std::error_code ignored;
    fs::remove(aside, ignored);
    return failure;
  }
  return try_sync_folder(parent_folder(path));
}

/// A pipe or device has no old content to protect and cannot be renamed over.
void write_straight(const fs::path& path, std::string_view content) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  WriteFailure failure = file.is_open() ? WriteFailure{} : WriteFailure{"open", errno};
  while (!failure && !content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written >= 0) {
      content.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      failure = {"write", errno};
    }
  }
  check_written(failure, path);
}

}  // namespace

std::string read_file(const fs::path& path, uint64_t max_bytes) {
  return FileReader(path).read_all(max_bytes);
}

void write_file_atomic(const fs::path& path, std::string_view content, const RetryPolicy& retry) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  check(!exists || !S_ISDIR(status.st_mode), ErrorKind::kCannotWrite,
        "{}: cannot write: is a directory; give the path of a file", path.string());
  if (exists && !S_ISREG(status.st_mode)) {
    write_straight(path, content);
    return;
  }
  const fs::path target = link_target(path);
  const mode_t mode = exists ? status.st_mode & 07777 : 0;
  check_written(retry_transient(retry, [&] { return replace_file(target, {&content, 1}, mode); }), path);
}

void sync_folder(const fs::path& folder) {
  check_written(retry_transient({}, [&] { return try_sync_folder(folder); }), folder);
}

}  // namespace dragoman::base
