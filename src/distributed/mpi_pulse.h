#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "distributed/mpi_operation.h"
#include "distributed/rank_watch.h"

namespace dragoman::distributed {

/// The exchange of signs of life between the ranks, and of the error of a failing rank. Every rank sends a sign of life
/// to rank 0 once a second, and rank 0 sends one to all others. RankWatch finds the silent ranks. A busy rank counts as
/// alive, because the thread of the engine sends the signs while other threads compute, validate or write. Threads: the
/// thread of the engine only.
class MpiPulse {
 public:
  MpiPulse(int rank, int size, double timeout, double now);
  /// Cancels the open receive. Requires: MPI_Finalize has not been called.
  ~MpiPulse();
  MpiPulse(const MpiPulse&) = delete;
  MpiPulse& operator=(const MpiPulse&) = delete;

  /// Sends and receives the due messages. Returns the ranks that have been silent for too long.
  [[nodiscard]] std::vector<int> beat(double now);

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
    std::array<char, 4000> text{};
  };
  void send_signs_of_life();
  void listen();
  void take_messages(double now);

  int rank_;
  int size_;
  double interval_;
  double next_beat_;
  RankWatch watch_;
  Message alive_;
  Message dying_;
  std::vector<MPI_Request> sends_;  // [size] the last sign of life to each rank
  Message received_;
  MPI_Request receive_ = MPI_REQUEST_NULL;
  std::optional<LastWords> last_words_;
};

}  // namespace dragoman::distributed
