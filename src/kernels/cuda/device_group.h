#pragma once

#include <memory>
#include <string>

#include "kernels/device_messages.h"

namespace dragoman::kernels::cuda {

// The messages between GPUs: device_group_nccl.cpp has NVIDIA's NCCL, which is loaded when it is first needed;
// device_group_emulated.cpp has files; device_group_stub.cpp, for a machine without NCCL's header, has none.

/// Returns: the identity of a new group, for join_device_group in all processes; empty if NCCL is missing.
[[nodiscard]] std::string new_device_group();

/// Returns: where the GPU of this process is, in the network and in its machine: "node-a 0000:17:00.0".
[[nodiscard]] std::string device_place();

/// Joins a group. Returns when all processes have. Requires: each process has a GPU of its own.
/// Throws: Error, "cuda: ncclCommInitRank: unhandled system error".
[[nodiscard]] std::unique_ptr<DeviceMessages> join_device_group(const std::string& group, int rank, int size);

/// Returns: "NCCL 2.28.9", or why there is none: "libnccl.so.2 is missing: sums between GPUs go through the host".
[[nodiscard]] std::string describe_messages();

}  // namespace dragoman::kernels::cuda
