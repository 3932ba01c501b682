#pragma once

#include "models/model.h"
#include "tensor/device.h"

namespace dragoman::models {

/// Returns: the device that has the weights of a model. What computes with the model in any thread opens a
/// tensor::DeviceScope of it. On the host a weight may be there in packed form only.
inline tensor::Device device_of(const Model& model) {
  for (const nn::ParameterHandle& parameter : model.parameters().parameters()) {
    if (parameter->variable.defined()) {
      return parameter->variable.value().device();
    }
  }
  return {};
}

}  // namespace dragoman::models
