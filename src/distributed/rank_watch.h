#pragma once

#include <vector>

namespace dragoman::distributed {

/// Decides which ranks are silent, from when each was last heard of. Rank 0 watches all others, and they watch rank 0,
/// so the traffic grows with the ranks, not with their square. Times are seconds of a clock that never goes back.
/// The others speak up one after another (by rank, 2 seconds apart, 8 at most), so that one person's error is printed
/// once.
class RankWatch {
 public:
  /// @param timeout  seconds of silence allowed  @param now  all are taken to be heard of
  RankWatch(int rank, int size, double timeout, double now);

  void heard(int rank, double now);
  /// The watched ranks that have been silent for too long, ascending. To be called at least every few seconds: when it
  /// was not, this process itself was stopped or starved, has heard nobody, and gives all another chance.
  std::vector<int> silent(double now);

 private:
  double timeout_;
  double patience_;                 // timeout, and this rank's turn to speak
  std::vector<bool> watched_;       // [size]
  std::vector<double> last_heard_;  // [size]
  double last_look_;
};

}  // namespace dragoman::distributed
