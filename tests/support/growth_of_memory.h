#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>

#include "support/background_program.h"

namespace dragoman::test_support {

/// Returns the least memory of a process, in KiB, after one of four calls of `flood`. Not the memory after the last
/// one: now and then a freed buffer stays in the heap until the next flood.
inline int64_t smallest_memory(pid_t process, const std::function<void()>& flood) {
  int64_t smallest = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < 4; ++i) {
    flood();
    smallest = std::min(smallest, status_kib(process, "RssAnon"));
  }
  return smallest;
}

/// Returns by how many KiB four further calls of `flood` make a process grow, when they no longer make it grow by more
/// than `allowed`, or after the sixth four. A leak grows each time; the heap of a thread grows once, and nothing says
/// when.
inline int64_t growth_of_memory(pid_t process, int64_t allowed, const std::function<void()>& flood) {
  int64_t growth = std::numeric_limits<int64_t>::max();
  int64_t before = smallest_memory(process, flood);
  for (int i = 0; i < 5 && growth > allowed; ++i) {
    const int64_t after = smallest_memory(process, flood);
    growth = after - before;
    before = after;
  }
  return growth;
}

}  // namespace dragoman::test_support
