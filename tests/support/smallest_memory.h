#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>

#include "support/background_program.h"

namespace dragoman::test_support {

/// Returns the least memory of a process, in KiB, after one of `floods` calls of `flood`. Not the memory after the last
/// one: now and then a freed buffer stays in the heap until the next flood.
inline int64_t smallest_memory(int floods, pid_t process, const std::function<void()>& flood) {
  int64_t smallest = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < floods; ++i) {
    flood();
    smallest = std::min(smallest, status_kib(process, "RssAnon"));
  }
  return smallest;
}

}  // namespace dragoman::test_support
