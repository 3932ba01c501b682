#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace dragoman::tensor {

/// The kinds of devices whose memory tensors may use.
enum class DeviceKind : uint8_t {
  kCpu,       ///< the host: the memory of the process
  kCuda,      ///< an NVIDIA GPU
  kEmulated,  ///< a device of tests, with memory of its own that the host may not touch
};
inline constexpr size_t kDeviceKinds = 3;

/// A device, as a value.
struct Device {
  DeviceKind kind = DeviceKind::kCpu;
  uint8_t index = 0;  ///< number among the devices of this kind, from 0

  /// Returns: whether the host may read and write the memory of the device through pointers.
  constexpr bool is_host() const { return kind == DeviceKind::kCpu; }
  /// Returns: "cpu", or kind and number, as in "cuda:0".
  std::string name() const;

  friend constexpr bool operator==(const Device&, const Device&) = default;
};

}  // namespace dragoman::tensor
