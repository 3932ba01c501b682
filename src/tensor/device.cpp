#include "tensor/device.h"

#include <array>

namespace dragoman::tensor {

std::string Device::name() const {
  constexpr std::array<const char*, kDeviceKinds> kNames{"cpu", "cuda", "emulated"};
  const std::string of_kind = kNames[static_cast<size_t>(kind)];
  return is_host() ? of_kind : of_kind + ":" + std::to_string(index);
}

}  // namespace dragoman::tensor
