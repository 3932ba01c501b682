#pragma once

#include <span>
#include <vector>

#include "distributed/process_group.h"
#include "nn/context.h"
#include "tensor/tensor.h"

namespace dragoman::training {

/// The statistics of batch norms over all replicas: sums over the threads of this process, then over the processes. The
/// first thread keeps what running statistics move towards until the update is applied.
class ReplicaStatistics : public nn::BatchStatistics {
 public:
  /// Both must outlive this.
  ReplicaStatistics(distributed::Communicator& threads, distributed::ProcessGroup& processes)
      : threads_(threads), processes_(processes) {}

  void sum(std::span<double> values) override;
  void keep(const tensor::Tensor& running, std::span<const double> latest) override;
  /// Drops what an update has kept that is not applied.
  void forget() { kept_.clear(); }
  /// Moves the running statistics, in the order in which the update kept them.
  void move();

 private:
  struct Kept {
    tensor::Tensor running;  // [D]
    std::vector<double> latest;
  };

  distributed::Communicator& threads_;
  distributed::ProcessGroup& processes_;
  std::vector<Kept> kept_;
};

}  // namespace dragoman::training
