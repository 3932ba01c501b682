#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

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

/// Replicas as threads of one process. All members live as long as the shared meeting point. Each rank adds up its own
/// share of a sum once all have begun it: in a later call of begin_sum, or in end_sums.
///
/// With `outside`, the group is one process of several: every share goes on, as soon as it is added up, to be summed
/// over the processes, whose groups must have the same size. Everything else stays within the group.
class ThreadCommunicator : public Communicator {
 public:
  /// One communicator per rank, all connected. @param outside  must outlive them
  static std::vector<std::unique_ptr<ThreadCommunicator>> make_group(int size, Communicator* outside = nullptr);

  int rank() const override { return rank_; }
  int size() const override;
  void barrier() override;
  void all_reduce_sum(std::span<double> values) override;
  void begin_sum(std::span<float> values, int tag) override;
  void end_sums() override;
  Part share(int64_t size) const override { return part_of(size, rank_, this->size()); }
  void abandon() override;

 private:
  struct Meeting;
  ThreadCommunicator(int rank, std::shared_ptr<Meeting> meeting) : rank_(rank), meeting_(std::move(meeting)) {}
  bool add_complete_sums();
  std::span<float> add_share(const std::vector<float*>& buffers, int64_t size) const;

  int rank_;
  std::shared_ptr<Meeting> meeting_;
  std::vector<int> begun_;  // tags of sums that this rank has begun and not added up yet
};

}  // namespace dragoman::distributed
