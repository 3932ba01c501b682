#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "distributed/communicator.h"

namespace dragoman::distributed {

/// Independent channels between the processes. Requires: on each channel all ranks make the same calls in the same
/// order. Threads: different threads may use different channels at once.
enum class Channel { kTraining, kData };
inline constexpr int kChannels = 2;

/// The processes that train one model together, on one machine or several. Each process may have several replicas as
/// threads. Rank 0 leads: only rank 0 writes files and prints messages.
class ProcessGroup : public Communicator {
 public:
  bool leads() const { return rank() == 0; }
  /// Returns the number of processes of the group on this machine, with this process. They share its cores.
  virtual int processes_here() const = 0;
  /// Returns the default number of threads of this process: its share of the cores of this machine, at least one.
  [[nodiscard]] int default_workers() const;
  /// Returns the name of a rank for messages: "rank 2 (node-b, process 4711)".
  virtual std::string name_of(int rank) const = 0;

  /// Returns the bytes of all ranks, by rank. The lengths may differ.
  virtual std::vector<std::string> all_gather(std::string_view mine, Channel channel) = 0;
  std::vector<std::string> all_gather(std::string_view mine) { return all_gather(mine, Channel::kTraining); }
  /// Copies `values` of `root` to all ranks. Requires: equal lengths on all ranks.
  void broadcast(std::span<float> values, int root = 0) { broadcast_bytes(std::as_writable_bytes(values), root); }
  void broadcast(std::span<double> values, int root = 0) { broadcast_bytes(std::as_writable_bytes(values), root); }
  /// Returns the text of `root` on all ranks. The arguments of the other ranks are ignored.
  std::string broadcast(std::string_view text, int root = 0);
  /// Adds the values of all ranks in rank order.
  void all_reduce_sum(std::span<double> values) override;
  /// Returns the largest `value` of all ranks.
  [[nodiscard]] double maximum(double value);
  void barrier() override { all_gather(""); }
  Part share(int64_t size) const override { return {0, size}; }
  /// Returns the seconds since the last call during which at least one sum between processes was in flight. Without any
  /// overlap a run would wait for this time.
  virtual double take_sum_seconds() { return 0.0; }

  /// Ends all processes after a fatal error of this one. In a group of several processes the call never returns: rank 0
  /// prints the error once, with the name of this rank, and all processes end with `status`. For a single process the
  /// call does nothing, and the caller passes the error on.
  virtual void end_all(int status, const std::string& text) = 0;

 private:
  void broadcast_bytes(std::span<std::byte> bytes, int root);
  std::vector<std::vector<double>> gather_numbers(std::span<const double> mine);
};

/// The group of a single process.
class SingleProcess : public ProcessGroup {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int processes_here() const override { return 1; }
  std::string name_of(int) const override { return "rank 0"; }
  using ProcessGroup::all_gather;
  std::vector<std::string> all_gather(std::string_view mine, Channel) override { return {std::string(mine)}; }
  void begin_sum(std::span<float>, int) override {}
  void end_sums() override {}
  void abandon() override {}
  void end_all(int, const std::string&) override {}
};

/// Options for detecting dead processes.
struct JoinOptions {
  double timeout_seconds = 20.0;  ///< a rank that is silent for longer ends the run
};

}  // namespace dragoman::distributed
