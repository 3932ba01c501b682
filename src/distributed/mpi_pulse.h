#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "distributed/mpi_operation.h"
#include "distributed/rank_watch.h"

namespace dragoman::distributed {

/// The exchange of signs of life between the ranks, of how long each has been stuck, and of the error of a failing
/// rank. Every rank sends a sign of life to rank 0 once a second, and rank 0 sends one to all others. RankWatch finds
/// the silent ranks. A busy rank counts as alive, because the thread of the engine sends the signs while other threads
/// compute, validate or write. Threads: the thread of the engine only.
class MpiPulse {
 public:
  MpiPulse(int rank, int size, double timeout, double now);
  /// Cancels the open receive. Requires: MPI_Finalize has not been called.
  ~MpiPulse();
  MpiPulse(const MpiPulse&) = delete;
  MpiPulse& operator=(const MpiPulse&) = delete;

  /// Sends and receives the due messages. Returns the ranks that have been silent for too long.
  /// @param stuck  seconds for which this rank has done nothing but wait for the others
  [[nodiscard]] std::vector<int> beat(double now, double stuck);
  /// Returns the seconds for which all ranks have been stuck. Rank 0 alone knows; the others return 0.
  [[nodiscard]] double all_stuck() const;

  /// Sends the error of this rank to rank 0.
  void send_last_words(int status, const std::string& text);
  struct LastWords {
    int rank;
    int status;
    std::string text;
  };
  /// Returns the first error that a failing rank has sent to rank 0.
  const std::optional<LastWords>& last_words() const { return last_words_; }

 private:
  struct Message {
    int status = 0;  // 0 = "I live"
    float stuck = 0.0F;
    std::array<char, 4000> text{};
  };
  void send_signs_of_life(double stuck);
  void listen();
  void take_messages(double now);

  int rank_;
  int size_;
  double interval_;
  double next_beat_;
  RankWatch watch_;
  std::vector<float> stuck_;  // [size] seconds, as each rank said last
  Message alive_;
  Message dying_;
  std::vector<MPI_Request> sends_;  // [size] the last sign of life to each rank
  Message received_;
  MPI_Request receive_ = MPI_REQUEST_NULL;
  std::optional<LastWords> last_words_;
};

}  // namespace dragoman::distributed
