#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace dragoman::data {

/// How processes that train one model share the reading: each encodes its part of the lines and tells the others what
/// came of it. All of them make the same calls in the same order. The default is a process alone.
struct Exchange {
  int rank = 0;
  int size = 1;
  /// What every rank brings, by rank.
  std::function<std::vector<std::string>(const std::string& mine)> all_gather;

  /// Of `count` things those in [begin(count), end(count)) fall to this rank.
  uint64_t begin(uint64_t count) const { return count * static_cast<uint64_t>(rank) / static_cast<uint64_t>(size); }
  uint64_t end(uint64_t count) const { return count * static_cast<uint64_t>(rank + 1) / static_cast<uint64_t>(size); }
};

}  // namespace dragoman::data
