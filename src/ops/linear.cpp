#include "ops/linear.h"

#include <algorithm>
#include <memory>
#include <span>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "ops/gemm.h"
#include "ops/product_grad.h"

namespace dragoman::ops {
namespace {

void check_linear(const Variable& x, const Weight& weight, const Variable& bias, Transpose stored) {
  const DType dtype = x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const bool takes_bfloat16 = is_bfloat16(x.value()) && weight.precision() == Precision::kBFloat16;
  tensor::check_matrix(x.value(), takes_bfloat16 ? DType::kBFloat16 : dtype, "linear", "x");
  if (weight.variable.defined()) {
    tensor::check_matrix(weight.variable.value(), dtype, "linear", "weight");
  }
  const tensor::Shape shape = weight.shape();
  const bool transposed = stored == Transpose::kYes;
  base::check_argument(shape[transposed ? 1 : 0] == x.dim(1),
                       "linear: weight is {}, must have {} {} as x has {} columns", shape, x.dim(1),
                       transposed ? "columns" : "rows", x.dim(1));
  if (bias.defined()) {
    tensor::check_shape(bias.value(), {shape[transposed ? 0 : 1]}, "linear", "bias");
    base::check_argument(bias.dtype() == dtype, "linear: bias is {}, must be {}", tensor::dtype_name(bias.dtype()),
                         tensor::dtype_name(dtype));
  }
}

// What products take for x: where they are in bfloat16, x as it was rounded before. On a GPU, x is rounded for all that
// multiply it once.
const Tensor& operand(Variable x, const Weight& weight) {
  if (weight.precision() != Precision::kBFloat16) {
    return x.value();
  }
  if (!x.rounded().defined() && x.dtype() == DType::kFloat32 && !x.value().device().is_host()) {
    Tensor rounded = Tensor::empty(x.shape(), DType::kBFloat16);  // [N, Din]
    kernels::backend_of(rounded).copy_rounded(x.value(), rounded);
    x.set_rounded(rounded);
  }
  return x.rounded().defined() ? x.rounded() : x.value();
}

// What a product adds to rows of the type of y: [Dout], or undefined.
Tensor added(const Variable& bias, const Tensor& y) {
  if (!bias.defined()) {
    return {};
  }
  return is_bfloat16(y) && bias.rounded().defined() ? bias.rounded() : bias.value();
}

// Rows that go from op to op while a training computes in bfloat16 are bfloat16 themselves: what limits is their way to
// memory and back.
DType result_type(const Variable& x, const Weight& weight, const Variable& bias) {
  const bool gives_bfloat16 = weight.precision() == Precision::kBFloat16 && x.dtype() != DType::kFloat64 &&
                              autograd::needs_grad({&x, &weight.variable, &bias});
  if (gives_bfloat16) {
    return DType::kBFloat16;
  }
  return x.dtype() == DType::kBFloat16 && !x.value().device().is_host() ? DType::kFloat32 : x.dtype();
}

// dx = dy W^T
void add_input_grad(const Variable& x, const Tensor& grad_output, const Weight& weight, Transpose stored) {
  if (!x.requires_grad()) {
    return;
  }
  if (is_bfloat16(x.value())) {
    Tensor grad = Tensor::empty(x.shape(), DType::kBFloat16);  // [N, Din]
    multiply_weight_backward(grad_output, weight, stored, false, grad);
    return x.add_grad(grad);
  }
  auto [grad, accumulate] = x.grad_target();
  multiply_weight_backward(grad_output, weight, stored, accumulate, grad);
}

// y = x W + b:  dx = dy W^T,  dW = x^T dy,  db = sum of the rows of dy
void linear_backward(const Variable& x, const Weight& weight, const Variable& bias, Transpose stored,
                     const Tensor& grad_output) {
  add_input_grad(x, grad_output, weight, stored);
  add_weight_grad(operand(x, weight), grad_output, weight, stored);
  add_bias_grad(bias, grad_output);
}

// y = x W + b, which was computed.
Variable record_linear(const Variable& x, const Weight& weight, const Variable& bias, Transpose stored, Tensor y) {
  const auto backward = [x, weight, bias, stored](const Tensor& grad_output) {
    linear_backward(x, weight, bias, stored, grad_output);
  };
  return autograd::record("linear", std::move(y), {&x, &weight.variable, &bias}, backward);
}

// y = ReLU(x W + b), which was computed; y tells where the ReLU let through.
Variable record_linear_relu(const Variable& x, const Weight& weight, const Variable& bias, Tensor y) {
  const auto backward = [x, weight, bias, y](const Tensor& grad_output) {
    Tensor grad = Tensor::empty(y.shape(), y.dtype());  // [N, Dout], before the ReLU
    kernels::backend_of(grad).activation_backward(y, grad_output, Activation::kRelu, {}, grad);
    linear_backward(x, weight, bias, Transpose::kNo, grad);
  };
  return autograd::record("linear_activation", y, {&x, &weight.variable, &bias}, backward);
}

bool multiplies_packed(const Variable& x, const Weight& weight) {
  return weight.packed != nullptr && x.dtype() != DType::kFloat64;
}

// Products with weights in int8 on a device that packs none: inference only.
std::vector<Variable> multiplied_int8(const Variable& x, std::span<const LinearMap> maps, Activation activation) {
  std::vector<kernels::Int8Product> products;
  std::vector<Variable> results;
  for (const LinearMap& map : maps) {
    check_linear(x, map.weight, map.bias, Transpose::kNo);
    Tensor y = Tensor::empty({x.dim(0), map.weight.shape()[1]});  // [N, Dout]
    products.push_back({*map.weight.int8, map.bias.defined() ? map.bias.value() : Tensor(), activation, y});
    results.emplace_back(y);
  }
  kernels::backend_of(x.value()).multiply_int8(x.value(), products);
  return results;
}

bool multiplies_with_relu(const Variable& x, const Weight& weight, const Variable& bias) {
  return weight.packed == nullptr && bias.defined() && kernels::backend_of(x.value()).multiplies_with_relu();
}

ProductOfSame product_of(const Variable& x, const Weight& weight, const Variable& bias, Activation activation) {
  check_linear(x, weight, bias, Transpose::kNo);
  return {&weight.packed->forward(),
          {bias.defined() ? bias.value() : Tensor(), activation},
          Tensor::empty({x.dim(0), weight.shape()[1]}, result_type(x, weight, bias))};  // [N, Dout]
}

// Affine maps of the same rows as one product, with weights and biases side by side.
struct JoinedMaps {
  std::vector<LinearMap> maps;
  std::vector<int64_t> firsts;                 // the first column of each map
  Tensor weight, bias;                         // [Din, sum of Dout] bfloat16, [sum of Dout]
  std::shared_ptr<autograd::JoinedGrad> grad;  // of all results
  std::vector<Tensor> waiting;                 // gradients of results whose part of dx comes with that of the first

  JoinedMaps(const Variable& x, std::span<const LinearMap> all)
      : maps(all.begin(), all.end()), grad(std::make_shared<autograd::JoinedGrad>()), waiting(all.size()) {
    for (const LinearMap& map : maps) {
      check_linear(x, map.weight, map.bias, Transpose::kNo);
      firsts.push_back(grad->width);
      grad->width += map.weight.shape()[1];
    }
    weight = Tensor::empty({x.dim(1), grad->width}, DType::kBFloat16);
    bias = maps.front().bias.defined() ? Tensor::empty({1, grad->width}) : Tensor();
    const kernels::Backend& backend = kernels::backend_of(weight);
    for (size_t i = 0; i < maps.size(); ++i) {
      const int64_t width = maps[i].weight.shape()[1];
      Tensor columns = weight.columns(firsts[i], firsts[i] + width);
      backend.copy_rounded(maps[i].weight.operand(), columns);
      if (bias.defined()) {
        Tensor part = bias.columns(firsts[i], firsts[i] + width);
        backend.copy_rounded(maps[i].bias.value().reshape({1, width}), part);
      }
    }
  }

  // Whether a gradient is columns of the joined one.
  bool is_joined(size_t i, const Tensor& grad_output) const {
    return grad->whole.defined() && grad_output.stride(0) == grad->whole.stride(0) &&
           grad_output.device_data() == grad->whole.columns(firsts[i], grad->width).device_data();
  }
};

// dx of all maps at once if their gradients lie side by side. The first map comes last in a backward.
void add_joined_input_grad(const Variable& x, JoinedMaps& joined, size_t i, const Tensor& grad_output) {
  const bool waits = joined.is_joined(i, grad_output);
  if (i > 0 && waits) {
    joined.waiting[i] = grad_output;
    return;
  }
  const auto has_come = [](const Tensor& grad) { return grad.defined(); };
  if (i == 0 && waits && std::all_of(joined.waiting.begin() + 1, joined.waiting.end(), has_come)) {
    const Weight weight(Variable(joined.weight), nullptr, Precision::kBFloat16, joined.weight);
    add_input_grad(x, joined.grad->whole, weight, Transpose::kNo);
  } else {
    add_input_grad(x, grad_output, joined.maps[i].weight, Transpose::kNo);
    for (size_t other = 1; i == 0 && other < joined.waiting.size(); ++other) {
      if (joined.waiting[other].defined()) {
        add_input_grad(x, joined.waiting[other], joined.maps[other].weight, Transpose::kNo);
      }
    }
  }
  if (i == 0) {
    joined.grad->whole = Tensor();
    joined.waiting.assign(joined.waiting.size(), Tensor());
  }
}

// Whether a GPU should compute maps as one product: in training, in bfloat16.
bool joins(const Variable& x, std::span<const LinearMap> maps) {
  if (maps.size() < 2 || x.value().device().is_host()) {
    return false;
  }
  const bool biased = maps.front().bias.defined();
  return std::ranges::all_of(maps, [&](const LinearMap& map) {
    return map.weight.packed == nullptr && map.weight.precision() == Precision::kBFloat16 &&
           map.bias.defined() == biased && autograd::needs_grad({&x, &map.weight.variable, &map.bias});
  });
}

std::vector<Variable> linear_joined(const Variable& x, std::span<const LinearMap> maps) {
  const auto joined = std::make_shared<JoinedMaps>(x, maps);
  Tensor y = Tensor::empty({x.dim(0), joined->grad->width}, DType::kBFloat16);  // [N, sum of Dout]
  if (joined->bias.defined()) {
    gemm_bias(operand(x, maps.front().weight), Transpose::kNo, joined->weight, Transpose::kNo,
              joined->bias.reshape({joined->grad->width}), y, Precision::kBFloat16);
  } else {
    gemm(operand(x, maps.front().weight), Transpose::kNo, joined->weight, Transpose::kNo, y, Precision::kBFloat16);
  }
  std::vector<Variable> results;
  for (size_t i = 0; i < maps.size(); ++i) {
    const LinearMap& map = joined->maps[i];
    const auto backward = [x, joined, i](const Tensor& grad_output) {
      const LinearMap& of_result = joined->maps[i];
      add_joined_input_grad(x, *joined, i, grad_output);
      add_weight_grad(operand(x, of_result.weight), grad_output, of_result.weight, Transpose::kNo);
      add_bias_grad(of_result.bias, grad_output);
    };
    const int64_t first = joined->firsts[i];
    results.push_back(autograd::record("linear", y.columns(first, first + map.weight.shape()[1]),
                                       {&x, &map.weight.variable, &map.bias}, backward));
    results.back().join_grad(joined->grad, first);
  }
  return results;
}

}  // namespace

Variable linear_activation(const Variable& x, const Weight& weight, const Variable& bias, Activation act) {
  const bool learns = autograd::needs_grad({&x, &weight.variable, &bias});
  if (weight.int8 != nullptr && act == Activation::kRelu) {
    const LinearMap map{weight, bias};
    return multiplied_int8(x, {&map, 1}, act).front();
  }
  if (act == Activation::kRelu && multiplies_with_relu(x, weight, bias)) {
    check_linear(x, weight, bias, Transpose::kNo);
    Tensor y = Tensor::empty({x.dim(0), weight.shape()[1]}, result_type(x, weight, bias));  // [N, Dout]
    gemm_relu(operand(x, weight), weight.operand(), added(bias, y), y, weight.precision());
    return record_linear_relu(x, weight, bias, y);
  }
  if (!multiplies_packed(x, weight) || (learns && act != Activation::kRelu)) {
    return activation(linear(x, weight, bias), act);
  }
  ProductOfSame product = product_of(x, weight, bias, act);
  PackedMatrix::multiply_each(operand(x, weight), {&product, 1});
  return learns ? record_linear_relu(x, weight, bias, product.y) : Variable(product.y);
}

std::vector<Variable> linear_each(const Variable& x, std::span<const LinearMap> maps) {
  if (joins(x, maps)) {
    return linear_joined(x, maps);
  }
  const auto is_int8 = [](const LinearMap& map) { return map.weight.int8 != nullptr; };
  if (!maps.empty() && std::ranges::all_of(maps, is_int8)) {
    return multiplied_int8(x, maps, Activation::kNone);
  }
  std::vector<Variable> results;
  if (!std::ranges::all_of(maps, [&](const LinearMap& map) { return multiplies_packed(x, map.weight); })) {
    for (const LinearMap& map : maps) {
      results.push_back(linear(x, map.weight, map.bias));
    }
    return results;
  }
  std::vector<ProductOfSame> products;
  for (const LinearMap& map : maps) {
    products.push_back(product_of(x, map.weight, map.bias, Activation::kNone));
  }
  PackedMatrix::multiply_each(maps.empty() ? x.value() : operand(x, maps.front().weight), products);
  for (size_t i = 0; i < maps.size(); ++i) {
    results.push_back(record_linear(x, maps[i].weight, maps[i].bias, Transpose::kNo, products[i].y));
  }
  return results;
}

Variable linear(const Variable& x, const Weight& weight, const Variable& bias, Transpose stored) {
  check_linear(x, weight, bias, stored);
  const int64_t d_out = weight.shape()[stored == Transpose::kYes ? 0 : 1];
  Tensor y = Tensor::empty({x.dim(0), d_out}, result_type(x, weight, bias));  // [N, Dout]
  multiply_weight(operand(x, weight), weight, stored, added(bias, y), y);
  return record_linear(x, weight, bias, stored, std::move(y));
}

}  // namespace dragoman::ops
