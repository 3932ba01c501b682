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

/// Sorts items by length, longest first (equal ones in the order given), and cuts the row into groups of nearly the
/// same number of tokens: each has at most `max_tokens` and half of its first and last item, or is one longer item.
/// Their number is a multiple of `n_workers`, unless items are too few or too long for that, so that workers who take
/// one after another end together.
/// @param max_tokens  at least 1;  @param n_workers  at least 1
/// @return  no groups of no items
std::vector<LengthGroup> group_by_length(std::span<const int64_t> lengths, int64_t max_tokens, int64_t n_workers);

/// Cuts a row of items into such groups, in the order in which they stand.
/// @param order  each item once
std::vector<LengthGroup> group_in_order(std::span<const size_t> order, std::span<const int64_t> lengths,
                                        int64_t max_tokens, int64_t n_workers);

}  // namespace dragoman::decoding
