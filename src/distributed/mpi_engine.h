#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "distributed/mpi_operation.h"
#include "distributed/mpi_pulse.h"

namespace dragoman::distributed {

/// The one thread of the process that calls MPI. Others hand it operations; it advances them all, so that sums go on
/// while their owners compute, and it keeps the pulse. It looks often while somebody waits for an operation, seldom
/// while everybody computes, and hardly ever when nothing is under way.
class MpiEngine {
 public:
  /// Starts MPI and returns when all ranks have done so. Throws Error(kRuntime) when they do not within a minute.
  explicit MpiEngine(const JoinOptions& options);
  /// Ends MPI. All operations must be done.
  ~MpiEngine();
  MpiEngine(const MpiEngine&) = delete;
  MpiEngine& operator=(const MpiEngine&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  int processes_here() const { return processes_here_; }
  std::string name_of(int rank) const;

  /// Begins an operation; it must live until it is done. Any thread.
  void begin(MpiOperation& operation);
  void wait_for(const MpiOperation& operation);
  /// Until no sum is under way.
  void wait_for_sums();
  /// Seconds since the last call in which at least one sum was under way.
  double take_sum_seconds();
  /// As ProcessGroup::end_all.
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
  void look_after_the_others();
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
  std::optional<Failure> failure_;  // that this process asked to end with
  int waiting_ = 0;                 // threads
  int sums_under_way_ = 0;
  double sums_since_ = 0.0;  // clock when the first of them began
  double sum_seconds_ = 0.0;

  // The engine's thread alone:
  std::vector<MpiOperation*> operations_;
  std::optional<MpiPulse> pulse_;
  double idle_since_ = 0.0;
  double failed_at_ = 0.0;
  std::thread thread_;
};

}  // namespace dragoman::distributed
