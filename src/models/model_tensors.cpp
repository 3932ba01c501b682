#include "models/model_tensors.h"

#include <map>

#include "base/error.h"

namespace dragoman::models {
namespace {

using base::check_data;
using tensor::NamedTensors;
using tensor::Tensor;

bool is_rounded(const Tensor& tensor) {
  return tensor.dtype() == tensor::DType::kInt8 || tensor.dtype() == tensor::DType::kBFloat16;
}

void check_tensor(const nn::Parameter& expected, const Tensor& found, std::string_view file_name) {
  check_tensor_shape(expected, found, file_name);
  const tensor::DType dtype = expected.variable.defined() ? expected.variable.dtype() : tensor::DType::kFloat32;
  check_data(
      found.dtype() == dtype || !is_rounded(found),
      "{}: tensor '{}' is {}: the model was rounded by `dragoman quantize` and can only be translated with; take "
      "the one that it was made of",
      file_name, expected.path, tensor::dtype_name(found.dtype()));
  check_data(found.dtype() == dtype, "{}: tensor '{}' is {}, must be {}; {}", file_name, expected.path,
             tensor::dtype_name(found.dtype()), tensor::dtype_name(dtype), kOtherModel);
}

}  // namespace

void check_tensor_shape(const nn::Parameter& expected, const Tensor& found, std::string_view file_name) {
  check_data(found.shape() == expected.shape, "{}: tensor '{}' has shape {}, config.json asks for {}; {}", file_name,
             expected.path, found.shape().to_string(), expected.shape.to_string(), kOtherModel);
}

void check_tensors(const nn::ParameterSet& expected, const NamedTensors& found, std::string_view file_name) {
  std::map<std::string_view, const nn::Parameter*> known;
  for (const nn::ParameterHandle& parameter : expected.parameters()) {
    known[parameter->path] = parameter.get();
    const auto tensor = found.find(parameter->path);
    check_data(tensor != found.end(), "{}: tensor '{}' is missing; {}", file_name, parameter->path, kOtherModel);
    check_tensor(*parameter, tensor->second, file_name);
  }
  for (const auto& [name, tensor] : found) {
    check_data(known.contains(name), "{}: tensor '{}' belongs to no part of the model; {}", file_name, name,
               kOtherModel);
  }
}

NamedTensors named_tensors(const nn::ParameterSet& parameters) {
  NamedTensors tensors;
  for (const nn::ParameterHandle& parameter : parameters.parameters()) {
    tensors[parameter->path] = parameter->variable.value();
  }
  return tensors;
}

void load_tensors(const NamedTensors& tensors, nn::ParameterSet& parameters, std::string_view file_name) {
  check_tensors(parameters, tensors, file_name);
  parameters.mutable_values();  // written through the named views below
  for (const nn::ParameterHandle& parameter : parameters.parameters()) {
    parameter->variable.mutable_value().copy_from(tensors.at(parameter->path));
  }
}

}  // namespace dragoman::models
