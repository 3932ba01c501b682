#pragma once

#include "distributed/process_group.h"

/// Which message is which. Messages of one sender and tag arrive in the order they were sent.
namespace dragoman::distributed::mpi_tags {

inline constexpr int kPulse = 1;  ///< "I live", or why I end
inline int sizes(Line line) {
  return 2 + 2 * static_cast<int>(line);
}
inline int bytes(Line line) {
  return 3 + 2 * static_cast<int>(line);
}
inline constexpr int kFirstSum = 2 + 2 * kLines;
inline int parts(int tag) {
  return kFirstSum + 2 * tag;
}
inline int sums(int tag) {
  return kFirstSum + 2 * tag + 1;
}

}  // namespace dragoman::distributed::mpi_tags
