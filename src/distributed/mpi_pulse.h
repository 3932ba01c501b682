#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "distributed/mpi_operation.h"
#include "distributed/rank_watch.h"

namespace dragoman::distributed {

/// Signs of life between the ranks, and the last words of one that fails. Every rank tells rank 0 once a second that
/// its process runs, and rank 0 tells all others; RankWatch judges. A busy rank is alive: the engine's thread beats
/// while the others compute, validate or write. Used by the engine's thread alone.
class MpiPulse {
 public:
  MpiPulse(int rank, int size, double timeout, double now);
  /// Takes back what is still to be received; before MPI_Finalize.
  ~MpiPulse();
  MpiPulse(const MpiPulse&) = delete;
  MpiPulse& operator=(const MpiPulse&) = delete;

  /// Sends and receives what is due. @return ranks that have been silent for too long
  std::vector<int> beat(double now);

  /// Tells rank 0 why this rank cannot go on.
  void send_last_words(int status, const std::string& text);
  struct LastWords {
    int rank;
    int status;
    std::string text;
  };
  /// What a failing rank has told rank 0; the first if there are several.
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
