#include "distributed/device_sums.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/backends/backend_of.h"

namespace dragoman::distributed {

using kernels::DeviceMessages;
using tensor::Tensor;

std::unique_ptr<DeviceMessages> connect_devices(ProcessGroup& processes, const kernels::Backend& backend) {
  if (processes.size() == 1) {
    return nullptr;
  }
  const std::string group = processes.broadcast(processes.leads() ? backend.new_device_group() : std::string());
  std::vector<std::string> places = processes.all_gather(backend.device_place());
  std::ranges::sort(places);
  if (group.empty() || std::ranges::adjacent_find(places) != places.end()) {
    return nullptr;
  }
  return backend.join_device_group(group, processes.rank(), processes.size());
}

DeviceSums::DeviceSums(std::unique_ptr<DeviceMessages> messages, int rank, int ranks, int sums)
    : messages_(std::move(messages)),
      rank_(rank),
      ranks_(ranks),
      sums_(static_cast<size_t>(sums)),
      next_(sums_.size()) {}

// Messages need one order on all ranks. A backward begins the sums from the last to the first.
void DeviceSums::begin(const Tensor& values, int tag) {
  Sum& begun = sums_.at(static_cast<size_t>(tag));
  base::check_argument(!begun.begun, "device sums: sum {} has begun already", tag);
  begun.values = values;
  begun.begun = true;
  for (; next_ > 0 && sums_[next_ - 1].begun; --next_) {
    send_parts(sums_[next_ - 1]);
  }
}

void DeviceSums::end() {
  base::check_argument(next_ == 0, "device sums: sum {} has not begun", next_ - 1);
  messages_->end_exchanges();
  for (Sum& sum : sums_) {
    add_parts(sum);
    sum.values = {};
    sum.begun = false;
  }
  next_ = sums_.size();
}

void DeviceSums::hand_out(std::span<const Tensor> values) {
  for (const Tensor& each : values) {
    messages_->begin_exchange(pieces([&](int) { return part(each, rank_); }),
                              pieces([&](int rank) { return part(each, rank); }));
  }
  messages_->end_exchanges();
}

std::vector<DeviceMessages::Piece> DeviceSums::pieces(const std::function<Tensor(int rank)>& of_rank) const {
  std::vector<DeviceMessages::Piece> all;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (rank != rank_) {
      all.push_back({rank, of_rank(rank)});
    }
  }
  return all;
}

Tensor DeviceSums::part(const Tensor& values, int rank) const {
  const Part of_rank = part_of(values.size(), rank, ranks_);
  return values.rows(of_rank.begin, of_rank.end);
}

// Each rank gets its part from all others.
void DeviceSums::send_parts(Sum& sum) {
  if (sum.others.empty()) {
    const int64_t size = part(sum.values, rank_).size();
    sum.others = pieces([&](int) { return Tensor::empty({size}); });
  }
  messages_->begin_exchange(pieces([&](int rank) { return part(sum.values, rank); }), sum.others);
}

// ((rank 0 + rank 1) + rank 2) + ..., whatever this rank is.
void DeviceSums::add_parts(const Sum& sum) const {
  Tensor own = part(sum.values, rank_);
  if (own.size() == 0 || ranks_ == 1) {
    return;
  }
  const kernels::Backend& backend = kernels::backend_of(own);
  Tensor total = rank_ == 0 ? own : sum.others.front().values;
  for (int rank = 1; rank < ranks_; ++rank) {
    const auto other = static_cast<size_t>(rank < rank_ ? rank : rank - 1);
    backend.add_in_place(total, rank == rank_ ? own : sum.others[other].values);
  }
  if (rank_ != 0) {
    own.copy_from(total);
  }
}

}  // namespace dragoman::distributed
