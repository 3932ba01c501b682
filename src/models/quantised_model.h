#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nn/parameters.h"
#include "tensor/safetensors.h"

namespace dragoman::models {

/// Behind the name of an int8 matrix weight: its scales, float32, one for each column of W in y = x W, which is a row
/// of an embedding table.
inline constexpr std::string_view kScalesSuffix = ".scales";

/// What the matrix weights of a file are stored in; float32 where it is anything else.
kernels::Precision stored_precision(const tensor::NamedTensors& tensors);
kernels::Precision stored_precision(const std::vector<tensor::SafetensorsEntry>& entries);

/// The tensors of a model with its matrix weights rounded to bfloat16, or to int8 with scales (kernels::quantise).
/// @param declared  the parameters of that model;  @param tensors  float32, checked by `check_tensors`
tensor::NamedTensors rounded_tensors(const tensor::NamedTensors& tensors, const nn::ParameterSet& declared,
                                     kernels::Precision precision);

/// Gives the next tensor of a file and its name; nothing after the last.
using NextTensor = std::function<std::optional<std::pair<std::string, tensor::Tensor>>()>;

/// Fills a model for inference (nn::PackedLoading) from float32, bfloat16 or int8 tensors, which may come in any order.
/// Each is packed in another thread while the next is read.
/// Throws Error(kBadData) as check_tensors does, and "m/model.safetensors: tensor 'output.weight' is int8 and has no
/// 'output.weight.scales'; the file is damaged or hostile".
void load_for_inference(const NextTensor& next, nn::ParameterSet& parameters, kernels::Precision precision,
                        std::string_view file_name);

}  // namespace dragoman::models
