#pragma once

#include <vector>

namespace dragoman::distributed {

/// A detector of silent ranks, from the times of their last signs of life. Rank 0 watches all others, and they watch
/// rank 0, so the number of messages is linear in the number of ranks. Times are seconds of a monotonic clock. The
/// other ranks report a silent rank 0 one after another, 2 seconds apart and at most 8 seconds later. So the error is
/// printed once.
class RankWatch {
 public:
  /// @param timeout  allowed seconds of silence
  /// @param now      counts as the time of the last sign of life of all ranks
  RankWatch(int rank, int size, double timeout, double now);

  /// Records a sign of life.
  void heard(int rank, double now);
  /// Returns the watched ranks that have been silent for too long, in increasing order. Requires: a call every few
  /// seconds. After a longer gap this process itself was stopped, so the silence of all ranks starts anew.
  [[nodiscard]] std::vector<int> silent(double now);

 private:
  double timeout_;
  double patience_;                 // timeout and the delay of the report of this rank
  std::vector<bool> watched_;       // [size]
  std::vector<double> last_heard_;  // [size]
  double last_look_;
};

}  // namespace dragoman::distributed
