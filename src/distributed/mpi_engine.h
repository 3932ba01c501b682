#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "distributed/idle_watch.h"
#include "distributed/mpi_operation.h"
#include "distributed/mpi_pulse.h"

namespace dragoman::distributed {

/// The thread that makes all calls of MPI in a process. Other threads submit operations, and the engine advances all of
/// them, so that sums overlap the computation. It also sends and receives the signs of life (MpiPulse). It polls often
/// while a thread waits for an operation, less often while all threads compute, and rarely without operations.
/// Threads: any thread may call the functions.
class MpiEngine {
 public:
  /// Starts MPI and returns after all ranks have started it. Throws: Error(kRuntime) if this takes more than a minute.
  explicit MpiEngine(const JoinOptions& options);
  /// Ends MPI. Requires: all operations are done.
  ~MpiEngine();
  MpiEngine(const MpiEngine&) = delete;
  MpiEngine& operator=(const MpiEngine&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  int processes_here() const { return processes_here_; }
  std::string name_of(int rank) const;

  /// Begins an operation. Requires: the operation outlives its end.
  void begin(MpiOperation& operation);
  /// Waits for the end of an operation.
  void wait_for(const MpiOperation& operation);
  /// Waits for the end of all sums.
  void wait_for_sums();
  /// Returns the seconds since the last call during which at least one sum was in flight.
  double take_sum_seconds();
  /// Ends all processes, as ProcessGroup::end_all.
  [[noreturn]] void end_all(int status, const std::string& text);

 private:
  struct Failure {
    int status;
    std::string text;
  };
  void run();
  void start_mpi();
  void work();
  void take_new_operations(std::unique_lock<std::mutex>& lock);
  bool advance_operations();
  void finish(MpiOperation& operation);
  void rest(bool moved);
  void look_after_the_others(bool moved);
  void look_at_idleness(double now);
  void act_on_failure();
  [[noreturn]] void end_run(int status, const std::string& text);

  JoinOptions options_;
  int rank_ = 0;
  int size_ = 1;
  int processes_here_ = 1;
  std::vector<std::string> names_;  // by rank

  std::mutex mutex_;
  std::condition_variable to_engine_;
  std::condition_variable to_owners_;
  std::vector<MpiOperation*> new_operations_;
  std::optional<std::string> start_error_;
  bool started_ = false;
  bool leaving_ = false;
  bool left_ = false;
  std::optional<Failure> failure_;  // with which this process ends all others
  int waiting_ = 0;                 // threads
  int sums_under_way_ = 0;
  double sums_since_ = 0.0;  // start of the first of them
  double sum_seconds_ = 0.0;

  // Used only by the thread of the engine:
  std::vector<MpiOperation*> operations_;
  std::optional<MpiPulse> pulse_;
  std::optional<IdleWatch> idle_;
  double next_look_ = 0.0;      // of idle_
  double stuck_seconds_ = 0.0;  // as idle_ said last
  bool moved_ = false;          // since then
  double idle_since_ = 0.0;
  double failed_at_ = 0.0;
  std::thread thread_;
};

}  // namespace dragoman::distributed
