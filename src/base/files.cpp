#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/file_reader.h"
#include "base/folder_lock.h"

namespace dragoman::base {
namespace {

namespace fs = std::filesystem;

// The file that a chain of symbolic links ends at, so that the links stay links.
fs::path link_target(const fs::path& path) {
  std::error_code ignored;
  const bool is_link = fs::is_symlink(path, ignored);
  const fs::path target = is_link ? fs::weakly_canonical(path, ignored) : path;
  return target.empty() ? path : target;
}

fs::path aside_of(const fs::path& target) {
  fs::path aside = target;
  aside += ".tmp";
  return aside;
}

WriteFailure replace_file(const fs::path& path, std::span<const std::string_view> parts, mode_t mode) {
  const fs::path aside = aside_of(path);
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

// A pipe or device has no old content to protect and cannot be renamed over.
void write_straight(const fs::path& path, std::string_view content) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  check_written(file.is_open() ? write_all(file.get(), content) : WriteFailure{"open", errno}, path);
}

// What stands at a path that is to be written.
struct Destination {
  bool is_regular = true;  // or nothing stands there yet
  mode_t mode = 0;         // of the file to replace; 0 = none
};

Destination look_at(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return {};
  }
  check(!S_ISDIR(status.st_mode), ErrorKind::kCannotWrite, "{}: cannot write: is a directory; give the path of a file",
        path.string());
  return {S_ISREG(status.st_mode), status.st_mode & 07777};
}

WriteFailure make_empty(int file, mode_t mode) {
  if (::ftruncate(file, 0) != 0) {
    return {"empty", errno};
  }
  return mode == 0 || ::fchmod(file, mode) == 0 ? WriteFailure{} : WriteFailure{"set the mode of", errno};
}

bool is_still_named(int file, const fs::path& path) {
  struct stat open_file {
  }, named{};
  return ::fstat(file, &open_file) == 0 && ::stat(path.c_str(), &named) == 0 && open_file.st_ino == named.st_ino &&
         open_file.st_dev == named.st_dev;
}

}  // namespace

std::string read_file(const fs::path& path, uint64_t max_bytes) {
  return FileReader(path).read_all(max_bytes);
}

void remove_quietly(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

void write_file_atomic(const fs::path& path, std::string_view content, const RetryPolicy& retry) {
  const Destination destination = look_at(path);
  if (!destination.is_regular) {
    write_straight(path, content);
    return;
  }
  const fs::path target = link_target(path);
  check_written(retry_transient(retry, [&] { return replace_file(target, {&content, 1}, destination.mode); }), path);
}

FileWriter::FileWriter(fs::path path, const RetryPolicy& retry)
    : path_(std::move(path)), target_(link_target(path_)), aside_(aside_of(target_)), retry_(retry) {
  const Destination destination = look_at(path_);
  check_argument(destination.is_regular, "{}: a pipe or device cannot be replaced by a file", path_.string());
  check_written(retry_transient(retry_, [&] { return open_aside(); }), path_);
  check_written(retry_transient(retry_, [&] { return make_empty(file_.get(), destination.mode); }), path_);
}

FileWriter::~FileWriter() {
  if (file_.is_open() && !committed_) {
    std::error_code ignored;
    fs::remove(aside_, ignored);
  }
}

// Two writers at once would mix their bytes, so a writer holds a lock on PATH.tmp. A writer that ends may rename
// the file between the opening and the locking here. The file is then opened again.
WriteFailure FileWriter::open_aside() {
  do {
    file_ = FileDescriptor(::open(aside_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    if (!file_.is_open()) {
      return {"open", errno};
    }
    check(try_lock(file_.get()) != EWOULDBLOCK, ErrorKind::kRuntime,
          "{}: another process is writing it (it holds the lock on {}); wait for it, or choose another name",
          path_.string(), aside_.string());
  } while (!is_still_named(file_.get(), aside_));
  return {};
}

void FileWriter::add(std::string_view bytes) {
  check_written(retry_transient(retry_, [&] { return write_all(file_.get(), bytes); }), path_);
}

void FileWriter::commit() {
  check_written(::fsync(file_.get()) == 0 ? WriteFailure{} : WriteFailure{"fsync", errno}, path_);
  check_written(retry_transient(retry_, [&] { return try_rename(aside_, target_); }), path_);
  committed_ = true;
  sync_folder(parent_folder(target_));
}

void sync_folder(const fs::path& folder) {
  check_written(retry_transient({}, [&] { return try_sync_folder(folder); }), folder);
}

}  // namespace dragoman::base
