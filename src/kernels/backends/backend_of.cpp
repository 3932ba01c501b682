#include "kernels/backends/backend_of.h"

#include <array>

#include "base/error.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/reference/reference_backend.h"

namespace dragoman::kernels {
namespace {

using tensor::Device;
using tensor::DeviceKind;

const Backend*& backend_of_kind(DeviceKind kind) {
  static const CpuBackend cpu;
  static std::array<const Backend*, tensor::kDeviceKinds> backends = {&cpu};
  return backends[static_cast<size_t>(kind)];
}

}  // namespace

const Backend& backend_of(Device device, DType dtype) {
  static const reference::ReferenceBackend reference;
  if (dtype == DType::kFloat64) {
    return reference;
  }
  const Backend* backend = backend_of_kind(device.kind);
  base::check(backend != nullptr, base::ErrorKind::kRuntime, "kernels: this program has no backend for {}",
              device.name());
  return *backend;
}

void set_backend(DeviceKind kind, const Backend* backend) {
  backend_of_kind(kind) = backend;
}

}  // namespace dragoman::kernels
