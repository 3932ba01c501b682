#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "distributed/communicator.h"

namespace dragoman::distributed {

/// Independent lines of talk: calls on one line come in the same order on all ranks, different lines may be used by
/// different threads at once.
enum class Line { kTraining, kData };
inline constexpr int kLines = 2;

/// The processes that train one model together, on one machine or many; each may have several replicas as threads.
/// Rank 0 leads: it alone writes files and speaks to the person.
class ProcessGroup : public Communicator {
 public:
  bool leads() const { return rank() == 0; }
  /// Processes of the group that run on this machine and share its cores, this one included.
  virtual int processes_here() const = 0;
  /// Threads a process takes unless told otherwise: its share of the cores of this machine, at least one.
  int default_workers() const;
  /// For messages: "rank 2 (node-b, process 4711)".
  virtual std::string name_of(int rank) const = 0;

  /// What every rank brings, by rank; lengths may differ.
  virtual std::vector<std::string> all_gather(std::string_view mine, Line line) = 0;
  std::vector<std::string> all_gather(std::string_view mine) { return all_gather(mine, Line::kTraining); }
  /// Every rank's `values` become those of `root`. Equal lengths.
  void broadcast(std::span<float> values, int root = 0) { broadcast_bytes(std::as_writable_bytes(values), root); }
  void broadcast(std::span<double> values, int root = 0) { broadcast_bytes(std::as_writable_bytes(values), root); }
  /// @return the text that `root` brings; what the others bring is ignored
  std::string broadcast(std::string_view text, int root = 0);
  /// Sums are taken in rank order.
  void all_reduce_sum(std::span<double> values) override;
  /// The largest `value` that any rank brings.
  double maximum(double value);
  void barrier() override { all_gather(""); }
  Part share(int64_t size) const override { return {0, size}; }
  /// Seconds since the last call in which at least one sum was under way between processes: what a run would wait for
  /// if sums did not overlap anything.
  virtual double take_sum_seconds() { return 0.0; }

  /// For an error that this process cannot go on after. In a group of several it never returns: the person is told by
  /// the leading rank, once and with the name of this rank, and all processes end with `status`. Alone it does nothing,
  /// and the caller lets the error pass on.
  virtual void end_all(int status, const std::string& text) = 0;

 private:
  void broadcast_bytes(std::span<std::byte> bytes, int root);
  std::vector<std::vector<double>> gather_numbers(std::span<const double> mine);
};

/// A process alone.
class SingleProcess : public ProcessGroup {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int processes_here() const override { return 1; }
  std::string name_of(int) const override { return "rank 0"; }
  using ProcessGroup::all_gather;
  std::vector<std::string> all_gather(std::string_view mine, Line) override { return {std::string(mine)}; }
  void begin_sum(std::span<float>, int) override {}
  void end_sums() override {}
  void abandon() override {}
  void end_all(int, const std::string&) override {}
};

/// How the processes of a group watch each other.
struct JoinOptions {
  double timeout_seconds = 20.0;  ///< a rank that is not heard of for so long ends the run
};

}  // namespace dragoman::distributed
