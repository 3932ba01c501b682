#pragma once

#include <string_view>

#include "nn/parameters.h"
#include "tensor/safetensors.h"

namespace dragoman::models {

/// Throws Error(kBadData) unless `found` holds exactly the tensors of the model, each with its shape and dtype:
/// "m/model.safetensors: tensor 'decoder.norm.bias' is missing; config.json and the weights are of different models".
/// @param file_name  how the error calls the file
void check_tensors(const nn::ParameterSet& expected, const tensor::NamedTensors& found, std::string_view file_name);

/// Throws Error(kBadData) unless the shape of `found` is that of the parameter.
void check_tensor_shape(const nn::Parameter& expected, const tensor::Tensor& found, std::string_view file_name);

/// What the errors of this file advise.
inline constexpr const char* kOtherModel = "config.json and the weights are of different models";

/// The tensors of a model by path; they share its memory.
tensor::NamedTensors named_tensors(const nn::ParameterSet& parameters);

/// check_tensors, then copies the values into the model, which has its memory (ParameterSet::allocate).
void load_tensors(const tensor::NamedTensors& tensors, nn::ParameterSet& parameters, std::string_view file_name);

}  // namespace dragoman::models
