#pragma once

#include <cstdint>
#include <span>

namespace dragoman::distributed {

/// The elements [begin, end) of a flat buffer that one rank is responsible for.
struct Part {
  int64_t begin;
  int64_t end;
};

/// Cuts `size` elements into `ranks` parts of about equal length; borders are multiples of 16 elements.
Part part_of(int64_t size, int rank, int ranks);

/// What replicas of a model say to each other. Every rank must make the same calls in the same order, except for
/// begin_sum. Sums are taken in rank order, so a run with the same number of ranks is reproducible bit for bit.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Returns when every rank has called it.
  virtual void barrier() = 0;
  /// Every rank's `values` become the element-wise sum over all ranks. Equal lengths.
  virtual void all_reduce_sum(std::span<double> values) = 0;

  /// Begins to sum `values` over all ranks and may return before that is done, so that work can go on meanwhile. Every
  /// rank begins the same set of tags, each once, in any order; `values` stays untouched until end_sums returns.
  /// @param tag  small number, from 0; ranks that use the same one bring equal lengths
  virtual void begin_sum(std::span<float> values, int tag) = 0;
  /// Returns when all sums begun are done. Of each, the part share(length) of this rank's `values` is the sum; the
  /// rest is left unspecified.
  virtual void end_sums() = 0;
  /// Where the sums of `size` values end up: ranks of one process share the work, a rank alone in its process has all.
  virtual Part share(int64_t size) const = 0;

  /// A rank that fails calls this: the others leave their collective with an Error instead of waiting for ever.
  virtual void abandon() = 0;
};

}  // namespace dragoman::distributed
