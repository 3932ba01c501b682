#pragma once

#include <algorithm>
#include <cstddef>

namespace dragoman::distributed {

/// Longest message in bytes. MPI counts bytes in an int, so a longer buffer travels as several messages.
inline constexpr size_t kMaxMessageBytes = size_t{1} << 30;

/// Calls `visit(offset, bytes)` for each piece of a buffer of `count` bytes, from front to back. Every piece has
/// `longest` bytes but the last one, which has the rest. An empty buffer is one empty piece. Sender and receiver cut
/// equal counts into equal pieces. Requires: longest >= 1.
template <typename Visit>
void for_each_piece(size_t count, size_t longest, Visit visit) {
  size_t offset = 0;
  do {
    const size_t bytes = std::min(longest, count - offset);
    visit(offset, bytes);
    offset += bytes;
  } while (offset < count);
}

}  // namespace dragoman::distributed
