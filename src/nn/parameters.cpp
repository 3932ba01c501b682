#include "nn/parameters.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"
#include "kernels/backends/backend_of.h"
#include "ops/weight_norm.h"
#include "tensor/transfer.h"

namespace dragoman::nn {
namespace {

constexpr int64_t kAlignment = 16;  // elements: 64 bytes of float32

// The value of element `index`.
double draw(const Parameter& parameter, int64_t index, base::Random& random) {
  const tensor::Shape& shape = parameter.shape;
  switch (parameter.initializer) {
    case Initializer::kZeros:
      return 0.0;
    case Initializer::kOnes:
      return 1.0;
    case Initializer::kXavierUniform: {
      const double bound = std::sqrt(6.0 / static_cast<double>(shape[0] + shape[1]));
      return bound * (2.0 * random.uniform() - 1.0);
    }
    case Initializer::kNormalEmbedding:
      return random.normal() / std::sqrt(static_cast<double>(shape[1]));
    case Initializer::kNormal:
      return random.normal() * static_cast<double>(parameter.deviation);
    case Initializer::kColumnNorms:
      return 0.0;  // fill_norms
    case Initializer::kForgetOne:
      return index / (shape[0] / 4) == 1 ? 1.0 : 0.0;
  }
  return 0.0;
}

template <typename T>
void fill(const Tensor& values, const Parameter& parameter, base::Random& random) {
  tensor::HostEdit<T> edit(values);
  int64_t index = 0;
  for (T& value : edit.span()) {
    value = static_cast<T>(draw(parameter, index++, random));
  }
}

// The lengths of the columns of a weight [d_in, d_out].
void fill_norms(const Tensor& weight, const Tensor& norms) {
  Tensor target = norms;
  target.copy_from(ops::column_norms(weight));
}

std::vector<WeightSource> sources_of(const std::vector<ParameterHandle>& parameters) {
  std::vector<WeightSource> sources;
  for (const ParameterHandle& parameter : parameters) {
    sources.push_back(
        {parameter->variable.value(), parameter->path, parameter->is_matrix_weight, parameter->packed_from});
  }
  return sources;
}

void check_unpacked_precision(tensor::Device device, kernels::Precision precision) {
  using kernels::Precision;
  const kernels::Backend& backend = kernels::backend_of(device, tensor::DType::kFloat32);
  const Precision other = backend.multiplies_in(Precision::kFloat32) ? Precision::kFloat32 : Precision::kBFloat16;
  base::check_usage(backend.multiplies_in(precision),
                    "parameters: {} multiplies weights in {} only, asked for {}; choose {}", device.name(),
                    kernels::name_of(other), kernels::name_of(precision), kernels::name_of(other));
}

bool is_quantised(const StoredParameter& stored) {
  return stored.values.dtype() == tensor::DType::kInt8;
}

Tensor as_float32(const StoredParameter& stored, kernels::Transpose transpose) {
  return is_quantised(stored) ? kernels::dequantise({stored.values, stored.scales}, transpose)
                              : stored.values.to(tensor::DType::kFloat32);
}

Tensor on_host_as_float32(const StoredParameter& stored, kernels::Transpose transpose) {
  const tensor::HostScope on_host;  // where a file was read to
  return as_float32(stored, transpose);
}

// The numbers that products in a precision take, in float32.
Tensor as_multiplied(const StoredParameter& stored, kernels::Transpose transpose, kernels::Precision precision) {
  const Tensor values = as_float32(stored, transpose);
  switch (precision) {
    case kernels::Precision::kFloat32:
      return values;
    case kernels::Precision::kBFloat16:
      return values.to(tensor::DType::kBFloat16).to(tensor::DType::kFloat32);
    case kernels::Precision::kInt8:
      break;
  }
  return is_quantised(stored) ? values : kernels::dequantise(kernels::quantise(values, transpose), transpose);
}

// Of the numbers that are multiplied, so that a folder of rounded weights gives what rounding them here gives.
Tensor column_norms_of(const StoredParameter& stored, kernels::Transpose transpose, kernels::Precision precision) {
  const auto on_host = [&] {
    const tensor::HostScope scope;
    return ops::column_norms(as_multiplied(stored, transpose, precision));
  };
  return tensor::to_current_device(on_host());
}

// Keeps the values of a weight in bfloat16 if products take it so.
void round_for_products(Parameter& parameter) {
  if (parameter.is_matrix_weight && parameter.precision == kernels::Precision::kBFloat16) {
    const Tensor& values = parameter.variable.value();
    parameter.rounded = Tensor::empty(values.shape(), tensor::DType::kBFloat16);
    kernels::backend_of(values).copy_rounded(values, parameter.rounded);
  }
}

// The int8 copy of a weight for the current device, from values in host memory.
std::shared_ptr<const kernels::Int8Weight> int8_copy(const StoredParameter& stored, kernels::Transpose transpose) {
  kernels::QuantisedWeight quantised{stored.values, stored.scales};
  if (!is_quantised(stored)) {
    const tensor::HostScope on_host;
    quantised = kernels::quantise(as_float32(stored, transpose), transpose);
  }
  return std::make_shared<kernels::Int8Weight>(kernels::int8_weight(quantised, transpose));
}

void pack_stored(const StoredParameter& stored, ops::PackedWeight& copy) {
  if (is_quantised(stored) && copy.layout().precision == kernels::Precision::kInt8) {
    return copy.pack({stored.values, stored.scales});
  }
  const bool plain = stored.values.dtype() == tensor::DType::kFloat32;
  copy.pack(plain ? stored.values : as_float32(stored, copy.layout().stored), 0, copy.panels());
}

Tensor part_of(const Tensor& flat, const Parameter& parameter) {
  return flat.rows(parameter.offset, parameter.offset + parameter.shape.size()).reshape(parameter.shape);
}

}  // namespace

ParameterHandle ParameterSet::declare(std::string path, const tensor::Shape& shape, Initializer initializer) {
  const bool known = std::ranges::any_of(parameters_, [&](const auto& parameter) { return parameter->path == path; });
  base::check_argument(!known, "parameters: {} is declared twice", path);
  auto parameter = std::make_shared<Parameter>();
  parameter->path = std::move(path);
  parameter->shape = shape;
  parameter->initializer = initializer;
  parameter->offset = total_;
  parameter->index = parameters_.size();
  total_ += (shape.size() + kAlignment - 1) / kAlignment * kAlignment;
  parameters_.push_back(parameter);
  return parameter;
}

ParameterHandle ParameterSet::declare_weight(std::string path, const tensor::Shape& shape, Initializer initializer,
                                             kernels::Transpose packed_from) {
  ParameterHandle parameter = declare(std::move(path), shape, initializer);
  parameter->is_matrix_weight = true;
  parameter->packed_from = packed_from;
  return parameter;
}

void ParameterSet::allocate(tensor::DType dtype) {
  values_ = std::make_shared<ParameterValues>();
  values_->flat = Tensor::zeros({total_}, dtype);
  bind_values();
}

void ParameterSet::share_values(const ParameterSet& other) {
  base::check_argument(other.values_->flat.defined() && other.total_ == total_,
                       "parameters: sharing values of {} elements with a set of {}", other.total_, total_);
  values_ = other.values_;
  bind_values();
}

void ParameterSet::bind_values() {
  for (const ParameterHandle& parameter : parameters_) {
    parameter->variable = Variable(part_of(values_->flat, *parameter));
  }
  set_packing(nullptr);
}

Tensor& ParameterSet::mutable_values() {
  values_->version.fetch_add(1);
  return values_->flat;
}

void ParameterSet::initialize(uint64_t seed) {
  const Tensor& values = mutable_values();
  for (const ParameterHandle& parameter : parameters_) {
    base::Random random(seed, base::fnv1a_64(parameter->path));
    if (values.dtype() == tensor::DType::kFloat64) {
      fill<double>(parameter->variable.value(), *parameter, random);
    } else {
      fill<float>(parameter->variable.value(), *parameter, random);
    }
    if (parameter->initializer == Initializer::kColumnNorms) {
      fill_norms(parameters_[parameter->index - 1]->variable.value(), parameter->variable.value());
    }
  }
}

void ParameterSet::allocate_gradients() {
  gradients_ = Tensor::zeros({total_}, values().dtype());
  for (const ParameterHandle& parameter : parameters_) {
    parameter->variable = Variable(parameter->variable.value(), /*requires_grad=*/true);
    parameter->variable.bind_grad(part_of(gradients_, *parameter));
  }
}

void ParameterSet::clear_gradients() {
  for (const ParameterHandle& parameter : parameters_) {
    parameter->variable.clear_grad();
  }
}

void ParameterSet::complete_gradients() {
  for (const ParameterHandle& parameter : parameters_) {
    if (!parameter->variable.has_grad()) {
      part_of(gradients_, *parameter).zero();
    }
  }
}

void ParameterSet::pack_weights(kernels::Precision precision) {
  if (values().dtype() == tensor::DType::kFloat32 && kernels::backend_of(values()).packs_weights()) {
    set_packing(std::make_shared<WeightPacking>(sources_of(parameters_), values_, precision, PackedFor::kInference));
    packing_->pack(0, 1);
  } else if (values().dtype() == tensor::DType::kFloat32) {
    allocate_packing(precision);
    for (const ParameterHandle& parameter : parameters_) {
      if (precision == kernels::Precision::kInt8 && parameter->is_matrix_weight) {
        parameter->int8 = int8_copy({tensor::to_host(parameter->variable.value())}, parameter->packed_from);
      }
    }
  }
}

void ParameterSet::allocate_packing(kernels::Precision precision) {
  base::check_argument(values().dtype() == tensor::DType::kFloat32, "parameters: {} weights cannot be packed",
                       tensor::dtype_name(values().dtype()));
  if (!kernels::backend_of(values()).packs_weights()) {
    check_unpacked_precision(values().device(), precision);
    set_packing(nullptr);
    const bool rounds = precision == kernels::Precision::kBFloat16;
    const auto rounding = rounds ? std::make_shared<RoundedValues>(values_) : nullptr;
    for (const ParameterHandle& parameter : parameters_) {
      parameter->precision = precision;
      parameter->rounding = rounding;
      parameter->rounded = {};
      parameter->int8 = nullptr;
    }
    return;
  }
  set_packing(std::make_shared<WeightPacking>(sources_of(parameters_), values_, precision, PackedFor::kTraining));
}

void ParameterSet::round_values() {
  for (const ParameterHandle& parameter : parameters_) {
    if (parameter->rounding != nullptr) {
      static_cast<void>(parameter->rounding->part(parameter->offset, parameter->shape));  // rounds all of them
      return;
    }
  }
}

void ParameterSet::share_packing(const ParameterSet& other) {
  base::check_argument(other.values_ == values_, "parameters: packed copies of other values cannot be shared");
  set_packing(other.packing_);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i]->precision = other.parameters_[i]->precision;
    parameters_[i]->rounding = other.parameters_[i]->rounding;
    parameters_[i]->int8 = other.parameters_[i]->int8;
  }
}

void ParameterSet::set_packing(std::shared_ptr<WeightPacking> packing) {
  packing_ = std::move(packing);
  for (const ParameterHandle& parameter : parameters_) {
    parameter->packing = packing_;
    parameter->rounding = nullptr;
  }
}

const Parameter& ParameterSet::find(std::string_view path) const {
  const auto found = std::ranges::find_if(parameters_, [&](const auto& parameter) { return parameter->path == path; });
  base::check_argument(found != parameters_.end(), "parameters: there is no {}", path);
  return **found;
}

int64_t ParameterSet::count() const {
  int64_t count = 0;
  for (const ParameterHandle& parameter : parameters_) {
    count += parameter->shape.size();
  }
  return count;
}

PackedLoading::PackedLoading(ParameterSet& set, kernels::Precision precision)
    : set_(set),
      precision_(precision),
      memory_(tensor::Arena::current()),
      packs_(kernels::backend_of(memory_->device(), tensor::DType::kFloat32).packs_weights()),
      copies_(set.parameters().size()) {
  if (!packs_) {
    check_unpacked_precision(memory_->device(), precision);
  }
}

void PackedLoading::put(size_t index, const StoredParameter& stored) {
  Parameter& parameter = *set_.parameters_.at(index);
  tensor::check_shape(stored.values, parameter.shape, "parameters", parameter.path.c_str());
  std::optional<tensor::ArenaScope> memory;
  if (!packs_) {
    memory.emplace(memory_);
  }
  const bool is_copied = parameter.is_matrix_weight && (packs_ || precision_ == kernels::Precision::kInt8);
  if (!is_copied) {
    parameter.precision = packs_ ? kernels::Precision::kFloat32 : precision_;
    parameter.variable = Variable(tensor::to_current_device(on_host_as_float32(stored, parameter.packed_from)));
    round_for_products(parameter);
    return;
  }
  parameter.variable = Variable();
  if (parameter.is_normed) {
    parameter.column_norms = column_norms_of(stored, parameter.packed_from, precision_);
  }
  if (!packs_) {
    parameter.int8 = int8_copy(stored, parameter.packed_from);
    return;
  }
  const ops::PackedWeightLayout layout{precision_, parameter.packed_from};
  copies_[index] = std::make_unique<ops::PackedWeight>(parameter.shape, layout);
  pack_stored(stored, *copies_[index]);
}

void PackedLoading::finish() {
  if (!packs_) {
    return set_.set_packing(nullptr);
  }
  set_.set_packing(std::make_shared<WeightPacking>(std::move(copies_), precision_));
}

}  // namespace dragoman::nn
