#include "models/quantised_model.h"

#include <algorithm>

#include "base/error.h"
#include "models/model_tensors.h"

namespace dragoman::models {
namespace {

using base::check_data;
using nn::StoredParameter;
using tensor::DType;
using tensor::NamedTensors;
using tensor::Tensor;

constexpr const char* kDamaged = "the file is damaged or hostile";

std::string scales_name(const std::string& path) {
  return path + std::string(kScalesSuffix);
}

// Columns of W in y = x W.
int64_t columns_of(const nn::Parameter& parameter) {
  return parameter.shape[parameter.packed_from == ops::Transpose::kYes ? 0 : 1];
}

void check_units(const nn::Parameter& parameter, const StoredParameter& stored, std::string_view file_name) {
  const std::string scales = scales_name(parameter.path);
  check_data(stored.scales.defined(), "{}: tensor '{}' is int8 and has no '{}'; {}", file_name, parameter.path, scales,
             kDamaged);
  check_data(stored.scales.dtype() == DType::kFloat32 && stored.scales.shape() == tensor::Shape{columns_of(parameter)},
             "{}: tensor '{}' is {} {}, must be float32 [{}]; {}", file_name, scales,
             tensor::dtype_name(stored.scales.dtype()), stored.scales.shape(), columns_of(parameter), kDamaged);
  const auto worths = stored.scales.span<float>();
  const auto negative = std::ranges::find_if(worths, [](float worth) { return worth < 0.0F; });
  check_data(negative == worths.end(), "{}: tensor '{}': element {} is {}, must not be negative; {}", file_name, scales,
             negative - worths.begin(), negative == worths.end() ? 0.0F : *negative, kDamaged);
  const auto units = stored.values.span<int8_t>();
  const auto lowest = std::ranges::find(units, int8_t{-128});
  check_data(lowest == units.end(), "{}: tensor '{}': element {} is -128, must be from -127 to 127; {}", file_name,
             parameter.path, lowest - units.begin(), kDamaged);
}

StoredParameter stored_of(const nn::Parameter& parameter, const NamedTensors& tensors, std::string_view file_name) {
  const auto found = tensors.find(parameter.path);
  check_data(found != tensors.end(), "{}: tensor '{}' is missing; {}", file_name, parameter.path, kOtherModel);
  check_tensor_shape(parameter, found->second, file_name);
  StoredParameter stored{found->second};
  const DType dtype = stored.values.dtype();
  check_data(
      dtype == DType::kFloat32 || (parameter.is_matrix_weight && (dtype == DType::kInt8 || dtype == DType::kBFloat16)),
      "{}: tensor '{}' is {}, must be {}; {}", file_name, parameter.path, tensor::dtype_name(dtype),
      parameter.is_matrix_weight ? "float32, bfloat16 or int8" : "float32", kOtherModel);
  if (dtype == DType::kInt8) {
    const auto scales = tensors.find(scales_name(parameter.path));
    stored.scales = scales == tensors.end() ? Tensor() : scales->second;
    check_units(parameter, stored, file_name);
  }
  return stored;
}

}  // namespace

ops::Precision stored_precision(const NamedTensors& tensors) {
  const auto any = [&](DType dtype) {
    return std::ranges::any_of(tensors, [&](const auto& named) { return named.second.dtype() == dtype; });
  };
  return any(DType::kInt8)       ? ops::Precision::kInt8
         : any(DType::kBFloat16) ? ops::Precision::kBFloat16
                                 : ops::Precision::kFloat32;
}

NamedTensors rounded_tensors(const NamedTensors& tensors, const nn::ParameterSet& declared, ops::Precision precision) {
  NamedTensors rounded = tensors;
  for (const nn::ParameterHandle& parameter : declared.parameters()) {
    Tensor& weight = rounded.at(parameter->path);
    if (!parameter->is_matrix_weight || precision == ops::Precision::kFloat32) {
      continue;
    }
    if (precision == ops::Precision::kBFloat16) {
      weight = weight.to(DType::kBFloat16);
      continue;
    }
    const ops::QuantisedWeight quantised = ops::quantise(weight, parameter->packed_from);
    weight = quantised.units;
    rounded[scales_name(parameter->path)] = quantised.scales;
  }
  return rounded;
}

void load_for_inference(const NamedTensors& tensors, nn::ParameterSet& parameters, ops::Precision precision,
                        int workers, std::string_view file_name) {
  std::vector<StoredParameter> stored;
  size_t used = 0;
  for (const nn::ParameterHandle& parameter : parameters.parameters()) {
    stored.push_back(stored_of(*parameter, tensors, file_name));
    used += stored.back().scales.defined() ? 2 : 1;
  }
  for (const auto& [name, tensor] : tensors) {
    const bool known = std::ranges::any_of(parameters.parameters(), [&](const nn::ParameterHandle& parameter) {
      return name == parameter->path ||
             (name == scales_name(parameter->path) && tensors.at(parameter->path).dtype() == DType::kInt8);
    });
    check_data(used == tensors.size() || known, "{}: tensor '{}' belongs to no part of the model; {}", file_name, name,
               kOtherModel);
  }
  parameters.load_packed(stored, precision, workers);
}

}  // namespace dragoman::models
