// A shim for LD_PRELOAD whose operator new fails when a test says so, while the program runs: FAIL_NEW_CONTROL names
// the file that both map (fault_control.h). What asked for the memory goes to FAIL_NEW_TRACE, a file. Two libraries are
// left alone, for they end the process themselves when memory is refused to them: SentencePiece, by its copy of
// protobuf, and nlohmann's json, whose destructor asks for memory. It is part of the program: FAIL_NEW_SPARE names a
// file with the begin and size of each of its functions, in hexadecimal, as nm prints them.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "support/fault_control.h"

namespace {

using dragoman::test_support::FaultControl;

FaultControl* control() {
  static FaultControl* const shared = [] {
    const char* const path = std::getenv("FAIL_NEW_CONTROL");
    return path != nullptr ? FaultControl::at(path) : nullptr;
  }();
  return shared;
}

constexpr int kMostFrames = 64;

struct Range {
  uintptr_t begin;
  uintptr_t size;
};
constexpr int kMostRanges = 64;

struct Spared {
  Range ranges[kMostRanges];
  int count = 0;

  Spared() {
    const char* const path = std::getenv("FAIL_NEW_SPARE");
    FILE* const file = path == nullptr ? nullptr : std::fopen(path, "re");
    while (file != nullptr && count < kMostRanges &&
           std::fscanf(file, "%lx %lx", &ranges[count].begin, &ranges[count].size) == 2) {
      ++count;
    }
    if (file != nullptr) {
      std::fclose(file);
    }
  }

  bool holds(uintptr_t address) const {
    for (int i = 0; i < count; ++i) {
      if (address - ranges[i].begin < ranges[i].size) {
        return true;
      }
    }
    return false;
  }
};

bool is_spared(void* const* frames, int count) {
  static const Spared spared;
  for (int i = 0; i < count; ++i) {
    Dl_info found;
    if (::dladdr(frames[i], &found) == 0) {
      continue;
    }
    const uintptr_t offset = reinterpret_cast<uintptr_t>(frames[i]) - reinterpret_cast<uintptr_t>(found.dli_fbase);
    const bool is_program = std::strstr(found.dli_fname, ".so") == nullptr;
    if (std::strstr(found.dli_fname, "libsentencepiece") != nullptr || (is_program && spared.holds(offset))) {
      return true;
    }
  }
  return false;
}

void tell(void* const* frames, int count) {
  const char* const path = std::getenv("FAIL_NEW_TRACE");
  const int file = path == nullptr ? -1 : ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file >= 0) {
    ::backtrace_symbols_fd(frames, count, file);
    ::close(file);
  }
}

bool fails() {
  FaultControl* const shared = control();
  if (shared == nullptr || shared->fail_in.load() <= 0 || --shared->fail_in != 0) {
    return false;
  }
  void* frames[kMostFrames];
  const int count = ::backtrace(frames, kMostFrames);
  if (is_spared(frames, count)) {
    shared->fail_in = 1;  // the next one instead
    return false;
  }
  tell(frames, count);
  ++shared->fired;
  return true;
}

void* allocate(size_t bytes) {
  return fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace

void* operator new(size_t bytes) {
  void* const address = allocate(bytes);
  if (address == nullptr) {
    throw std::bad_alloc();
  }
  return address;
}

void* operator new[](size_t bytes) {
  return operator new(bytes);
}

void* operator new(size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return allocate(bytes);
}

void* operator new[](size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return allocate(bytes);
}

// NOLINTBEGIN(misc-new-delete-overloads): of these the sized and the aligned ones come here
void operator delete(void* address) noexcept {
  std::free(address);
}

void operator delete[](void* address) noexcept {
  std::free(address);
}
// NOLINTEND(misc-new-delete-overloads)
