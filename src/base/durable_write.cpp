#include "base/durable_write.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "base/file_descriptor.h"

namespace dragoman::base {
namespace {

constexpr int kPauseGrowth = 3;

bool is_transient(int error) {
  return error == EINTR || error == EAGAIN || error == EIO || error == ENOSPC || error == EDQUOT;
}

WriteFailure write_parts_and_sync(int file, std::span<const std::string_view> parts) {
  for (std::string_view part : parts) {
    if (const WriteFailure failure = write_all(file, part)) {
      return failure;
    }
  }
  return ::fsync(file) == 0 ? WriteFailure{} : WriteFailure{"fsync", errno};
}

const char* advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space and run the same command again";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a folder that you may write to";
    case ENOENT:
    case ENOTDIR:
      return "check that the folder exists";
    default:
      return "check the disk and run the same command again";
  }
}

}  // namespace

WriteFailure retry_transient(const RetryPolicy& policy, const std::function<WriteFailure()>& attempt) {
  std::chrono::milliseconds pause = policy.first_pause;
  for (int left = policy.tries - 1;; --left) {
    const WriteFailure failure = attempt();
    if (!failure || left <= 0 || !is_transient(failure.error)) {
      return failure;
    }
    std::this_thread::sleep_for(pause);
    pause *= kPauseGrowth;
  }
}

WriteFailure write_all(int file, std::string_view& bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (written == 0) {
      return {"write", ENOSPC};
    } else if (errno != EINTR) {
      return {"write", errno};
    }
  }
  return {};
}

WriteFailure write_and_sync(const std::filesystem::path& path, std::span<const std::string_view> parts, mode_t mode) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.is_open()) {
    return {"open", errno};
  }
  if (mode != 0 && ::fchmod(file.get(), mode) != 0) {
    return {"set the mode of", errno};
  }
  if (const WriteFailure failure = write_parts_and_sync(file.get(), parts)) {
    return failure;
  }
  // Linux closes the descriptor even when close reports an error, so it is never closed twice.
  return ::close(file.release()) == 0 ? WriteFailure{} : WriteFailure{"close", errno};
}

WriteFailure try_rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  return std::rename(from.c_str(), to.c_str()) == 0 ? WriteFailure{} : WriteFailure{"rename", errno};
}

WriteFailure try_sync_folder(const std::filesystem::path& folder) {
  const FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open()) {
    return {"open", errno};
  }
  // Some network file systems have no fsync of a folder and return EINVAL, which is not an error here.
  const bool done = ::fsync(descriptor.get()) == 0 || errno == EINVAL;
  return done ? WriteFailure{} : WriteFailure{"fsync", errno};
}

void check_written(const WriteFailure& failure, const std::filesystem::path& path) {
  check(!failure, ErrorKind::kCannotWrite, "{}: cannot {}: {} (errno {}); {}", path.string(),
        failure ? failure.step : "", std::strerror(failure.error), failure.error, advice(failure.error));
}

bool path_exists(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

std::filesystem::path parent_folder(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace dragoman::base
