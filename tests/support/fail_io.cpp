// A shim for LD_PRELOAD that lets the k-th system call of a kind fail, to show what a program does with a full disk, a
// broken one, or without memory (the loop of SQLite's I/O tests: k = 1, 2, 3, ... until no fault fires).
//   FAIL_IO_CALL    write | fsync | rename | close | open | link | mmap (of memory that is no file)
//   FAIL_IO_AT      k, counted over all threads, from 1
//   FAIL_IO_ERRNO   number to set, 28 (ENOSPC) if not given
//   FAIL_IO_KEEP    1: every call from the k-th on fails (a disk that stays full); else only the k-th
//   FAIL_IO_SHORT   1: write(2) stores half of the bytes instead of failing (only for FAIL_IO_CALL=write)
//   FAIL_IO_UNDER   only files whose path begins with this count
//   FAIL_IO_LOG     this file is created when a fault fires
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<long> calls_seen{0};

template <typename Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

const char* setting(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

void log_fault() {
  const char* const path = setting("FAIL_IO_LOG", "");
  const int file = *path != '\0' ? real<int (*)(const char*, int, ...)>("open")(path, O_WRONLY | O_CREAT, 0666) : -1;
  if (file >= 0) {
    real<int (*)(int)>("close")(file);
  }
}

/// True when this call is to fail; errno is set then.
bool fails(const char* call, const char* path) {
  const char* const under = setting("FAIL_IO_UNDER", "");
  if (std::strcmp(setting("FAIL_IO_CALL", ""), call) != 0 || std::strncmp(path, under, std::strlen(under)) != 0) {
    return false;
  }
  const long at = std::atol(setting("FAIL_IO_AT", "0"));
  const long seen = ++calls_seen;
  const bool keeps = *setting("FAIL_IO_KEEP", "0") == '1';
  if (seen != at && !(keeps && seen > at)) {
    return false;
  }
  log_fault();
  errno = std::atoi(setting("FAIL_IO_ERRNO", "28"));
  return true;
}

bool fails(const char* call, int descriptor) {
  char link[64];
  char path[PATH_MAX] = "";
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = ::readlink(link, path, sizeof path - 1);
  return length > 0 && fails(call, path);
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t count) {
  const auto write_really = real<ssize_t (*)(int, const void*, size_t)>("write");
  if (!fails("write", descriptor)) {
    return write_really(descriptor, bytes, count);
  }
  const bool is_short = *setting("FAIL_IO_SHORT", "0") == '1';
  return is_short ? write_really(descriptor, bytes, (count + 1) / 2) : -1;
}

int fsync(int descriptor) {
  return fails("fsync", descriptor) ? -1 : real<int (*)(int)>("fsync")(descriptor);
}

int close(int descriptor) {
  const bool failed = fails("close", descriptor);
  const int error = errno;
  const int result = real<int (*)(int)>("close")(descriptor);  // Linux closes even when it reports an error
  errno = failed ? error : errno;
  return failed ? -1 : result;
}

int rename(const char* from, const char* to) {
  return fails("rename", to) ? -1 : real<int (*)(const char*, const char*)>("rename")(from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned int flags) {
  using Renameat2 = int (*)(int, const char*, int, const char*, unsigned int);
  return fails("rename", to) ? -1 : real<Renameat2>("renameat2")(from_folder, from, to_folder, to, flags);
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  const auto mmap_really = real<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  const bool is_memory = (flags & MAP_ANONYMOUS) != 0 && protection == (PROT_READ | PROT_WRITE) && address == nullptr;
  return is_memory && fails("mmap", "") ? MAP_FAILED : mmap_really(address, bytes, protection, flags, file, offset);
}

int link(const char* from, const char* to) {
  return fails("link", to) ? -1 : real<int (*)(const char*, const char*)>("link")(from, to);
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
  va_end(arguments);
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  return writes && fails("open", path) ? -1 : real<int (*)(const char*, int, ...)>("open")(path, flags, mode);
}

}  // extern "C"
