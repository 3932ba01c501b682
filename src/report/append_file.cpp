#include "report/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/durable_write.h"

namespace dragoman::report {

using base::WriteFailure;

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
    std::string_view rest = record;
    const WriteFailure attempt = base::write_all(file_.get(), rest);
    if (attempt) {
      // Takes back what part of the record was written, so that the next one starts on a clean end.
      [[maybe_unused]] const int ignored = ::ftruncate(file_.get(), size_);
    }
    return attempt;
  });
  base::check_written(failure, path_);
  size_ += static_cast<int64_t>(record.size());
}

}  // namespace dragoman::report
