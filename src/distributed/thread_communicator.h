#pragma once

#include <memory>
#include <vector>

#include "distributed/communicator.h"

namespace dragoman::distributed {

/// The communicator between replicas that are threads of one process. After all ranks have begun a sum, each rank adds
/// its own share of it, in a later call of begin_sum or in end_sums. With `outside` the group belongs to one of several
/// processes. Each share is then also summed over the processes, as soon as it is complete. All other calls stay within
/// the group.
class ThreadCommunicator : public Communicator {
 public:
  /// Returns one communicator for each rank. Requires: `outside` outlives the communicators, and the groups of all
  /// processes have equal sizes.
  [[nodiscard]] static std::vector<std::unique_ptr<ThreadCommunicator>> make_group(int size,
                                                                                   Communicator* outside = nullptr);

  int rank() const override { return rank_; }
  int size() const override;
  bool is_alone() const override;
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
  std::vector<int> begun_;  // tags of sums that this rank has begun and not yet added
};

}  // namespace dragoman::distributed
