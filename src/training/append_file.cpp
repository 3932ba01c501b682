#include "training/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "base/error.h"

namespace dragoman::training {
namespace {

using base::ErrorKind;

constexpr int kTries = 4;
constexpr std::chrono::milliseconds kFirstPause{20};  // doubled at each further try

bool is_transient(int error) {
  return error == EAGAIN || error == EIO || error == ENOSPC || error == EDQUOT;
}

/// write(2) until all is written. Returns 0 or the error number.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

AppendFile::AppendFile(const std::filesystem::path& path) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  struct stat status {};
  const bool is_open = descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0;
  const int error = errno;
  base::check(is_open, ErrorKind::kCannotWrite,
              "{}: cannot open for appending: {}; check the folder and its permissions", path.string(),
              std::strerror(error));
  size_ = status.st_size;
}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

void AppendFile::append(std::string_view record) {
  int error = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    if (attempt > 0) {
      std::this_thread::sleep_for(kFirstPause * (1 << attempt));
    }
    error = write_all(descriptor_, record);
    if (error == 0) {
      size_ += static_cast<int64_t>(record.size());
      return;
    }
    // Takes back what part of the record was written, so that the next one starts on a clean end.
    [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, size_);
    if (!is_transient(error)) {
      break;
    }
  }
  base::fail(ErrorKind::kCannotWrite, "{}: cannot append {} bytes: {}; free some space and run the same command again",
             path_.string(), record.size(), std::strerror(error));
}

}  // namespace dragoman::training
