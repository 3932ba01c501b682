#pragma once

#include <optional>
#include <string_view>

#include "tensor/device.h"

namespace dragoman::kernels::cuda {

/// Returns: the number of the GPU that a name means, "cuda", "cuda:3" or "auto"; none for "cpu", and for "auto" without
/// a GPU.
/// @param option  where the name was given, for the message
/// @param process  number of this process on its machine; "cuda" and "auto" mean the GPU of this number
/// Throws: Error(kUsage), "--device is \"gpu\", must be auto, cpu, cuda or cuda:N".
[[nodiscard]] std::optional<int> gpu_number(std::string_view name, std::string_view option, int process = 0);

/// Opens the device of this name (open_device), for a tensor::DeviceScope.
/// Throws: Error as gpu_number and open_device.
[[nodiscard]] tensor::Device open_named_device(std::string_view name, std::string_view option);

}  // namespace dragoman::kernels::cuda
