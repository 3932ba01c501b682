#pragma once

#include "distributed/process_group.h"

/// The tags of the messages. Messages of one sender with one tag arrive in the order of sending.
namespace dragoman::distributed::mpi_tags {

inline constexpr int kPulse = 1;  ///< a sign of life, or the error of a failing rank
inline int sizes(Channel channel) {
  return 2 + 2 * static_cast<int>(channel);
}
inline int bytes(Channel channel) {
  return 3 + 2 * static_cast<int>(channel);
}
inline constexpr int kFirstSum = 2 + 2 * kChannels;
inline int parts(int tag) {
  return kFirstSum + 2 * tag;
}
inline int sums(int tag) {
  return kFirstSum + 2 * tag + 1;
}

}  // namespace dragoman::distributed::mpi_tags
