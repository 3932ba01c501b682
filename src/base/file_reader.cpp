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

// O_NONBLOCK keeps the opening of a pipe without a writer, put in the place of a file, from hanging.
FileDescriptor open_in_folder(int folder, const std::string& name, SymbolicLinks links) {
  const bool is_plain = !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
  check_data(is_plain, "'{}': the name of a file in a folder must not contain a path; remove the slashes", name);
  const int follow = links == SymbolicLinks::kRefuse ? O_NOFOLLOW : 0;
  return FileDescriptor(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | follow));
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

FileDescriptor open_for_reading(const std::filesystem::path& path, int flags) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
  check_opened(file, path);
  return file;
}

struct stat status_of(const FileDescriptor& file, const std::string& name) {
  struct stat status {};
  const bool known = ::fstat(file.get(), &status) == 0;
  const int error = errno;
  check_data(known, "{}: cannot read its size: {}; check the file system", name, std::strerror(error));
  return status;
}

size_t read_some(const FileDescriptor& file, std::span<char> to, const std::string& name) {
  ssize_t got = 0;
  do {
    got = ::read(file.get(), to.data(), to.size());
  } while (got < 0 && errno == EINTR);
  const int error = errno;
  check_data(got >= 0, "{}: cannot read: {}; check the disk or the pipe", name, std::strerror(error));
  return static_cast<size_t>(got);
}

void read_exactly_at(const FileDescriptor& file, std::span<char> to, uint64_t offset, const std::string& name) {
  while (!to.empty()) {
    const ssize_t got = ::pread(file.get(), to.data(), to.size(), static_cast<off_t>(offset));
    const int error = errno;
    if (got < 0 && error == EINTR) {
      continue;
    }
    check_data(got >= 0, "{}: cannot read: {}; check the disk or the pipe", name, std::strerror(error));
    check_data(got > 0, "{}: ends before byte {}; the file shrank while it was in use", name, offset + to.size());
    offset += static_cast<uint64_t>(got);
    to = to.subspan(static_cast<size_t>(got));
  }
}

FileReader::FileReader(const std::filesystem::path& path) : path_(path), file_(open_for_reading(path)) {
  check_kind(Pipes::kAllow);
}

FileReader::FileReader(int folder, const std::string& name, const std::filesystem::path& path, SymbolicLinks links)
    : path_(path), file_(open_in_folder(folder, name, links)) {
  check_opened(file_, path_);
  check_kind(Pipes::kRefuse);
}

void FileReader::check_kind(Pipes pipes) {
  const struct stat status = status_of(file_, path_.string());
  check_data(!S_ISDIR(status.st_mode), "{}: is a directory; give the path of a file", path_.string());
  const bool is_readable = S_ISREG(status.st_mode) || (pipes == Pipes::kAllow && S_ISFIFO(status.st_mode));
  check_data(is_readable, "{}: is not a regular file; give the path of a file", path_.string());
  size_ = S_ISREG(status.st_mode) ? static_cast<uint64_t>(status.st_size) : 0;
}

bool FileReader::read_piece(std::string& piece) {
  piece.resize(kPieceBytes);
  piece.resize(read_some(file_, piece, path_.string()));
  return !piece.empty();
}

void FileReader::check_size(uint64_t bytes, uint64_t max_bytes) const {
  check_data(bytes <= max_bytes, "{}: has {}{} bytes, at most {} are allowed; is this the right file?", path_.string(),
             size_ == bytes ? "" : "at least ", bytes, max_bytes);
}

std::string FileReader::read_up_to(uint64_t max_bytes) {
  std::string content;
  content.resize(size_ + 1);  // with one more byte the first read finds the end
  size_t used = 0;
  while (const size_t got = read_some(file_, std::span(content).subspan(used), path_.string())) {
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
    const size_t got = read_some(file_, to, path_.string());
    check_data(got > 0, "{}: ends before its {} bytes; the file was cut while it was read", path_.string(), size_);
    to = to.subspan(got);
  }
}

void FileReader::check_end() {
  char beyond = 0;
  check_data(read_some(file_, {&beyond, 1}, path_.string()) == 0,
             "{}: has more than its {} bytes; the file grew while it was read", path_.string(), size_);
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
