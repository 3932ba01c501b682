#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "tensor/arena.h"

namespace dragoman::cli {

/// Adds --device to a command. `device` must be "cpu" before and outlive the command.
void add_device_flag(CLI::App& command, std::string& device);

/// Returns: whether --device chooses a GPU. "auto" does if there is one.
/// Throws: Error(kUsage), "--device is \"gpu\", must be auto, cpu, cuda or cuda:N".
[[nodiscard]] bool is_gpu(const std::string& device);

/// The device of a command. While alive, new tensors of this thread are on it.
class [[nodiscard]] DeviceChoice {
 public:
  /// Throws: Error as kernels::cuda::open_device, and as is_gpu.
  explicit DeviceChoice(const std::string& device);

 private:
  std::optional<tensor::ArenaScope> memory_;
};

}  // namespace dragoman::cli
