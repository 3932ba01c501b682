#include "training/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/durable_write.h"

namespace dragoman::training {
namespace {

using base::WriteFailure;

WriteFailure try_append(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      return {"append", errno};
    }
  }
  return {};
}

}  // namespace

AppendFile::AppendFile(const std::filesystem::path& path) : path_(path) {
  struct stat status {};
  const WriteFailure failure = base::retry_transient({}, [&] {
    file_ = base::FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    return file_.is_open() && ::fstat(file_.get(), &status) == 0 ? WriteFailure{}
                                                                 : WriteFailure{"open for appending", errno};
  });
  base::check_written(failure, path);
  size_ = status.st_size;
}

void AppendFile::append(std::string_view record) {
  const WriteFailure failure = base::retry_transient({}, [&] {
    const WriteFailure attempt = try_append(file_.get(), record);
    if (attempt) {
      // Takes back what part of the record was written, so that the next one starts on a clean end.
      [[maybe_unused]] const int ignored = ::ftruncate(file_.get(), size_);
    }
    return attempt;
  });
  base::check_written(failure, path_);
  size_ += static_cast<int64_t>(record.size());
}

}  // namespace dragoman::training
