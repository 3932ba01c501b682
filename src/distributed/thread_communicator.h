#pragma once

#include <memory>
#include <vector>

#include "distributed/communicator.h"

namespace dragoman::distributed {

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
