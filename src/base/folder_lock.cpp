#include "base/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/durable_write.h"
#include "base/error.h"

namespace dragoman::base {
namespace {

constexpr const char* kLockName = ".lock";

// The process id that the owner left, or "unknown" in the instant before it has written it.
std::string owner(int file) {
  std::string text(20, '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  text.erase(std::find_if(text.begin(), text.end(), [](char c) { return c < '0' || c > '9'; }), text.end());
  return text.empty() ? "unknown" : text;
}

WriteFailure try_open(const std::filesystem::path& path, FileDescriptor& file) {
  file = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  return file.is_open() ? WriteFailure{} : WriteFailure{"open", errno};
}

}  // namespace

int try_lock(int file) {
  int result = 0;
  do {
    result = ::flock(file, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

FolderLock::FolderLock(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kLockName;
  check_written(retry_transient({}, [&] { return try_open(path, file_); }), path);
  const int error = try_lock(file_.get());
  check(error != EWOULDBLOCK, ErrorKind::kRuntime,
        "{}: in use by process {}; wait for it, stop it, or choose another folder", folder.string(),
        owner(file_.get()));
  check_written(error == 0 ? WriteFailure{} : WriteFailure{"lock", error}, path);
  // Only the message above uses the id. The lock holds also if a full disk cannot store the id.
  const std::string id = std::to_string(::getpid()) + "\n";
  [[maybe_unused]] const bool noted =
      ::ftruncate(file_.get(), 0) == 0 && ::pwrite(file_.get(), id.data(), id.size(), 0) > 0;
}

}  // namespace dragoman::base
