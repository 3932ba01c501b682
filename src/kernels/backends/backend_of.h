#pragma once

#include "kernels/backend.h"

namespace dragoman::kernels {

/// Returns: the backend that computes with tensors of this device and dtype: the reference backend for float64,
/// otherwise the backend of the device.
/// Throws: Error, "kernels: this program has no backend for cuda:0".
const Backend& backend_of(tensor::Device device, DType dtype);

/// Returns: the backend that computes with tensors like this one.
inline const Backend& backend_of(const Tensor& tensor) {
  return backend_of(tensor.device(), tensor.dtype());
}

/// Makes `backend` the backend of all devices of a kind; null removes it. The CPU has its backend from the start.
/// Requires: `backend` outlives its use. Threads: call before kernels of this kind of device run.
void set_backend(tensor::DeviceKind kind, const Backend* backend);

}  // namespace dragoman::kernels
