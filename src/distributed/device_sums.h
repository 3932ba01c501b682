#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "distributed/process_group.h"
#include "kernels/backend.h"
#include "kernels/device_messages.h"

namespace dragoman::distributed {

/// Returns: messages between the devices of the processes, or null if they have one and the same device, or no messages
/// of their own: then sums go through the host. All processes of the group call it.
/// @param backend  of the device of this process
[[nodiscard]] std::unique_ptr<kernels::DeviceMessages> connect_devices(ProcessGroup& processes,
                                                                       const kernels::Backend& backend);

/// Sums over processes that have a device each. Every rank adds one part of a sum, part_of(n, rank, ranks), in the
/// order of the ranks, as Communicator does. The parts travel while the backward goes on, and are added at its end.
/// Threads: one at a time.
class DeviceSums {
 public:
  /// @param sums  sums of an update; their tags are 0 to sums - 1
  DeviceSums(std::unique_ptr<kernels::DeviceMessages> messages, int rank, int ranks, int sums);

  /// Begins the sum of `values` [n] float32 over all ranks.
  /// Requires: on all ranks equal lengths for equal tags, each tag once. The order of the tags is free; those that
  /// begin from the largest to the smallest travel at once. The caller leaves `values` alone until `end` returns.
  void begin(const tensor::Tensor& values, int tag);
  /// After it, kernels find the sum in the part of this rank of all `values`; the rest is unspecified. Requires: all
  /// sums have begun.
  void end();
  /// Copies the part that each rank has to all others. After it, kernels find all of `values`.
  /// @param values  one tensor [n] float32 a sum
  void hand_out(std::span<const tensor::Tensor> values);

 private:
  struct Sum {
    tensor::Tensor values;                               // [n], until end
    std::vector<kernels::DeviceMessages::Piece> others;  // this rank's part as the other ranks have it, kept
    bool begun = false;
  };
  void send_parts(Sum& sum);
  void add_parts(const Sum& sum) const;
  // One piece for each other rank.
  std::vector<kernels::DeviceMessages::Piece> pieces(const std::function<tensor::Tensor(int rank)>& of_rank) const;
  tensor::Tensor part(const tensor::Tensor& values, int rank) const;

  std::unique_ptr<kernels::DeviceMessages> messages_;
  int rank_, ranks_;
  std::vector<Sum> sums_;  // by tag
  size_t next_;            // sums with this tag and larger ones travel
};

}  // namespace dragoman::distributed
