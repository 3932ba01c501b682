#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace dragoman::data {

/// The way in which the processes of one training run share the encoding of a corpus. Each process encodes its part of
/// the lines and sends the result to the others. The default is a single process. Requires: all processes make the same
/// calls in the same order.
struct Exchange {
  int rank = 0;
  int size = 1;
  /// Returns the bytes that each rank contributes, by rank.
  std::function<std::vector<std::string>(const std::string& mine)> all_gather;

  /// Return the range [begin(count), end(count)) of `count` items that this rank processes.
  uint64_t begin(uint64_t count) const { return count * static_cast<uint64_t>(rank) / static_cast<uint64_t>(size); }
  uint64_t end(uint64_t count) const { return count * static_cast<uint64_t>(rank + 1) / static_cast<uint64_t>(size); }
};

}  // namespace dragoman::data
