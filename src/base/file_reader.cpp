#include "base/file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/error.h"

namespace dragoman::base {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;

/// O_NONBLOCK keeps the opening of a pipe without a writer, put where a file should be, from hanging.
int open_in_folder(int folder, const std::string& name, SymbolicLinks links) {
  const bool is_plain = !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
  check_data(is_plain, "'{}': a file of a folder is named without path; remove the slashes", name);
  const int follow = links == SymbolicLinks::kRefuse ? O_NOFOLLOW : 0;
  return ::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | follow);
}

void check_opened(const FileDescriptor& file, const std::filesystem::path& path) {
  const int error = errno;
  if (file.is_open()) {
    return;
  }
  check_data(error != ELOOP, "{}: is a symbolic link; a model folder holds its files itself, copy the file here",
             path.string());
  fail(ErrorKind::kBadData, "{}: cannot open for reading: {}; check the path and its permissions", path.string(),
       std::strerror(error));
}

}  // namespace

FileReader::FileReader(const std::filesystem::path& path)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  check_opened(file_, path_);
  check_kind(true);
}

FileReader::FileReader(int folder, const std::string& name, const std::filesystem::path& path, SymbolicLinks links)
    : path_(path), file_(open_in_folder(folder, name, links)) {
  check_opened(file_, path_);
  check_kind(false);
}

void FileReader::check_kind(bool pipes_allowed) {
  struct stat status {};
  const bool known = ::fstat(file_.get(), &status) == 0;
  const int error = errno;
  check_data(known, "{}: cannot read its size: {}; check the file system", path_.string(), std::strerror(error));
  check_data(!S_ISDIR(status.st_mode), "{}: is a directory; give the path of a file", path_.string());
  const bool readable = S_ISREG(status.st_mode) || (pipes_allowed && S_ISFIFO(status.st_mode));
  check_data(readable, "{}: is not a regular file; give the path of a file", path_.string());
  size_ = S_ISREG(status.st_mode) ? static_cast<uint64_t>(status.st_size) : 0;
}

size_t FileReader::read_some(char* buffer, size_t bytes) {
  ssize_t got = 0;
  do {
    got = ::read(file_.get(), buffer, bytes);
  } while (got < 0 && errno == EINTR);
  const int error = errno;
  check_data(got >= 0, "{}: cannot read: {}; check the disk", path_.string(), std::strerror(error));
  return static_cast<size_t>(got);
}

bool FileReader::read_piece(std::string& piece) {
  piece.resize(kPieceBytes);
  piece.resize(read_some(piece.data(), kPieceBytes));
  return !piece.empty();
}

void FileReader::check_size(uint64_t bytes, uint64_t max_bytes) const {
  check_data(bytes <= max_bytes, "{}: has {}{} bytes, at most {} are allowed; is this the right file?", path_.string(),
             size_ == bytes ? "" : "at least ", bytes, max_bytes);
}

std::string FileReader::read_up_to(uint64_t max_bytes) {
  std::string content;
  content.resize(size_ + 1);  // one more byte shows the end without a second look
  size_t used = 0;
  while (const size_t got = read_some(content.data() + used, content.size() - used)) {
    used += got;
    check_size(used, max_bytes);  // the file may grow while it is read
    if (used == content.size()) {
      content.resize(used + std::max(used / 2, kPieceBytes));
    }
  }
  content.resize(used);
  return content;
}

void FileReader::read_next(std::span<char> to) {
  while (!to.empty()) {
    const size_t got = read_some(to.data(), to.size());
    check_data(got > 0, "{}: ends before its {} bytes; the file was cut while it was read", path_.string(), size_);
    to = to.subspan(got);
  }
}

void FileReader::check_end() {
  char beyond = 0;
  check_data(read_some(&beyond, 1) == 0, "{}: has more than its {} bytes; the file grew while it was read",
             path_.string(), size_);
}

std::string FileReader::read_all(uint64_t max_bytes) {
  check_size(size_, max_bytes);
  try {
    return read_up_to(max_bytes);
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::kRuntime, "{}: no memory for its {} bytes; free some or split the file", path_.string(), size_);
  } catch (const std::length_error&) {
    fail(ErrorKind::kBadData, "{}: {} bytes are more than any memory holds; split the file", path_.string(), size_);
  }
}

}  // namespace dragoman::base
