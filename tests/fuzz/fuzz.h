#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/error.h"

// What libFuzzer calls with every input (scripts/fuzz.sh), and replay.cpp with those that were kept.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size);

namespace dragoman::fuzz {

/// Ends the process, which libFuzzer notes as a finding, unless `condition` holds.
inline void require(bool condition, const char* rule) {
  if (!condition) {
    std::fprintf(stderr, "broken rule: %s\n", rule);
    std::abort();
  }
}

inline std::string text_of(const unsigned char* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Calls `read`, which may throw base::Error and nothing else.
template <class Read>
void read_or_refuse(Read read) {
  try {
    read();
  } catch (const base::Error&) {
  }
}

}  // namespace dragoman::fuzz
