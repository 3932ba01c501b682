#pragma once

#include <string_view>

#include "nn/parameters.h"
#include "tensor/safetensors.h"

namespace dragoman::models {

/// Behind the name of an int8 matrix weight: its scales, float32, one for each column of W in y = x W, which is a row
/// of an embedding table.
inline constexpr std::string_view kScalesSuffix = ".scales";

/// What the matrix weights of a file are stored in; float32 where it is anything else.
ops::Precision stored_precision(const tensor::NamedTensors& tensors);

/// The tensors of a model with its matrix weights rounded to bfloat16, or to int8 with scales (ops::quantise).
/// @param declared  the parameters of that model;  @param tensors  float32, checked by `check_tensors`
tensor::NamedTensors rounded_tensors(const tensor::NamedTensors& tensors, const nn::ParameterSet& declared,
                                     ops::Precision precision);

/// Fills a model for inference (ParameterSet::load_packed) from float32, bfloat16 or int8 tensors.
/// Throws Error(kBadData) as check_tensors does, and "m/model.safetensors: tensor 'output.weight' is int8 and has no
/// 'output.weight.scales'; the file is damaged or hostile".
void load_for_inference(const tensor::NamedTensors& tensors, nn::ParameterSet& parameters, ops::Precision precision,
                        int workers, std::string_view file_name);

}  // namespace dragoman::models
