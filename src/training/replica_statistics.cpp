#include "training/replica_statistics.h"

#include <algorithm>

#include "nn/norm.h"

namespace dragoman::training {

void ReplicaStatistics::sum(std::span<double> values) {
  threads_.all_reduce_sum(values);
  if (processes_.size() == 1) {
    return;
  }
  if (threads_.rank() == 0) {
    processes_.all_reduce_sum(values);
  } else {
    std::ranges::fill(values, 0.0);
  }
  threads_.all_reduce_sum(values);  // hands the sums of the first thread on
}

void ReplicaStatistics::keep(const tensor::Tensor& running, std::span<const double> latest) {
  if (threads_.rank() == 0) {
    kept_.push_back({running, {latest.begin(), latest.end()}});
  }
}

void ReplicaStatistics::move() {
  for (const Kept& each : kept_) {
    nn::move_running(each.running, each.latest);
  }
  forget();
}

}  // namespace dragoman::training
