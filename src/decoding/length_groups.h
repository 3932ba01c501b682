#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dragoman::decoding {

/// Items that are worked on together, and the sum of their lengths.
struct LengthGroup {
  std::vector<size_t> items;
  int64_t tokens = 0;
};

/// Sorts items by length, longest first (equal ones in the order given), and cuts the row into groups of at most
/// `max_tokens`, one item at least.
std::vector<LengthGroup> group_by_length(std::span<const int64_t> lengths, int64_t max_tokens);

}  // namespace dragoman::decoding
