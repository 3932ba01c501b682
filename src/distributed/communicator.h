#pragma once

#include <cstdint>
#include <span>

namespace dragoman::distributed {

/// The elements [begin, end) of a flat buffer that belong to one rank.
struct Part {
  int64_t begin;
  int64_t end;
};

/// Returns the part of `rank` if `size` elements are cut into `ranks` parts of about equal length. The borders are
/// multiples of 16 elements.
[[nodiscard]] Part part_of(int64_t size, int rank, int ranks);

/// The communication between the replicas of a model. Sums are added in rank order, so runs with equal numbers of ranks
/// give equal bits. Requires: all ranks make the same calls in the same order, except for begin_sum.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Returns: whether there is no other rank, in this process or in others, so that sums are what each rank brings.
  virtual bool is_alone() const { return size() == 1; }
  /// Returns after all ranks have called it.
  virtual void barrier() = 0;
  /// Replaces `values` on all ranks by the element-wise sum over all ranks. Requires: equal lengths on all ranks.
  virtual void all_reduce_sum(std::span<double> values) = 0;

  /// Begins the sum of `values` over all ranks. May return before its end, so that the sum overlaps the computation.
  /// @param tag  a small number, from 0, that identifies the sum
  /// Requires: all ranks begin the same set of tags, each tag once and in any order, with equal lengths for equal tags;
  /// the caller does not use `values` until end_sums returns.
  virtual void begin_sum(std::span<float> values, int tag) = 0;
  /// Returns after the end of all sums. Of the `values` of each sum the part share(length) holds the result. The rest
  /// is unspecified.
  virtual void end_sums() = 0;
  /// Returns the part of `size` values in which this rank finds the sum. The ranks of one process share the work; a
  /// single rank of a process has all values.
  [[nodiscard]] virtual Part share(int64_t size) const = 0;

  /// Reports that this rank has failed. The calls of the other ranks then throw Error instead of waiting forever.
  virtual void abandon() = 0;
};

}  // namespace dragoman::distributed
