#include "base/files.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "base/error.h"

namespace dragoman::base {
namespace {

constexpr int kAttempts = 4;

class FileDescriptor {
 public:
  explicit FileDescriptor(int value) : value_(value) {}
  ~FileDescriptor() {
    if (value_ >= 0) {
      ::close(value_);
    }
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return value_; }
  int close() {
    const int result = ::close(value_);
    value_ = -1;
    return result;
  }

 private:
  int value_;
};

// The system call that failed, to be retried or reported.
struct Failure {
  const char* call;
  int code;
};

bool is_transient(int code) {
  return code == EINTR || code == EAGAIN || code == EIO || code == ENOSPC || code == EDQUOT;
}

void expect(bool done, const char* call) {
  if (!done) {
    throw Failure{call, errno};
  }
}

void write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    expect(written > 0, "write");
    content.remove_prefix(static_cast<size_t>(written));
  }
}

void sync_folder_once(const std::filesystem::path& folder) {
  FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  expect(opened.get() >= 0, "open");
  expect(::fsync(opened.get()) == 0, "fsync");
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

void write_once(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::path temporary = path;
  temporary += ".tmp";
  struct stat old {};
  const mode_t mode = ::stat(path.c_str(), &old) == 0 ? old.st_mode & 07777 : 0666;
  FileDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  expect(file.get() >= 0, "open");
  write_all(file.get(), content);
  expect(::fsync(file.get()) == 0, "fsync");
  expect(file.close() == 0, "close");
  expect(::rename(temporary.c_str(), path.c_str()) == 0, "rename");
  sync_folder_once(folder_of(path));
}

// Runs `action` until it works; what may pass is tried again after 50, 100, 200 ms.
template <typename Action>
void with_retries(const std::filesystem::path& path, Action action) {
  for (int attempt = 1;; ++attempt) {
    try {
      action();
      return;
    } catch (const Failure& failure) {
      if (!is_transient(failure.code) || attempt == kAttempts) {
        fail(ErrorKind::kCannotWrite, "{}: {} failed: {}; check free space and permissions", path.string(),
             failure.call, std::strerror(failure.code));
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(25 << attempt));
  }
}

using DigestContext = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

std::string finish_digest(EVP_MD_CTX* context) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  EVP_DigestFinal_ex(context, digest.data(), &length);
  std::string text;
  for (unsigned index = 0; index < length; ++index) {
    text += fmt::format("{:02x}", digest[index]);
  }
  return text;
}

DigestContext start_digest() {
  DigestContext context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr);
  return context;
}

int open_for_reading(const std::filesystem::path& path, uint64_t* bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  check_data(file >= 0, "{}: cannot open for reading: {}; check the path", path.string(), std::strerror(errno));
  struct stat status {};
  const bool known = ::fstat(file, &status) == 0;
  const bool folder = known && S_ISDIR(status.st_mode);
  if (!known || folder) {
    ::close(file);
    fail(ErrorKind::kBadData, "{}: {}; give a file", path.string(), folder ? "is a directory" : "cannot be examined");
  }
  *bytes = static_cast<uint64_t>(status.st_size);
  return file;
}

}  // namespace

std::string read_file(const std::filesystem::path& path, uint64_t max_bytes) {
  uint64_t bytes = 0;
  const FileDescriptor file(open_for_reading(path, &bytes));
  check_data(bytes <= max_bytes, "{}: has {} bytes, at most {} expected", path.string(), bytes, max_bytes);
  std::string content;
  content.reserve(bytes);
  std::array<char, 65536> block;
  for (;;) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    check_data(got >= 0, "{}: cannot read: {}", path.string(), std::strerror(errno));
    if (got == 0) {
      return content;
    }
    content.append(block.data(), static_cast<size_t>(got));
    check_data(content.size() <= max_bytes, "{}: has more than {} bytes", path.string(), max_bytes);
  }
}

void write_file_atomic(const std::filesystem::path& path, std::string_view content) {
  with_retries(path, [&] { write_once(path, content); });
}

void sync_folder(const std::filesystem::path& folder) {
  with_retries(folder, [&] { sync_folder_once(folder); });
}

std::string sha256_hex(std::string_view bytes) {
  const DigestContext context = start_digest();
  EVP_DigestUpdate(context.get(), bytes.data(), bytes.size());
  return finish_digest(context.get());
}

std::string sha256_file(const std::filesystem::path& path) {
  uint64_t bytes = 0;
  const FileDescriptor file(open_for_reading(path, &bytes));
  const DigestContext context = start_digest();
  std::array<char, 65536> block;
  for (;;) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    check_data(got >= 0, "{}: cannot read: {}", path.string(), std::strerror(errno));
    if (got == 0) {
      return finish_digest(context.get());
    }
    EVP_DigestUpdate(context.get(), block.data(), static_cast<size_t>(got));
  }
}

}  // namespace dragoman::base
