#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

namespace dragoman::test_support {

/// The memory that a test shares with a program run under fail_new: a file mapped by both.
struct FaultControl {
  std::atomic<long> fail_in{0};  ///< the k-th allocation from now on fails, once; 0: none
  std::atomic<long> fired{0};    ///< faults so far

  /// Returns: the memory of a file, which is created if missing; null if it cannot be mapped.
  static FaultControl* at(const char* path) {
    const int file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ::ftruncate(file, sizeof(FaultControl)) != 0) {
      return nullptr;
    }
    void* const address = ::mmap(nullptr, sizeof(FaultControl), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    return address == MAP_FAILED ? nullptr : static_cast<FaultControl*>(address);
  }
};

}  // namespace dragoman::test_support
