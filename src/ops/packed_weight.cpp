#include "ops/packed_weight.h"

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "kernels/cpu/output/logit_screen.h"
#include "ops/gemm.h"
#include "ops/product_grad.h"
#include "tensor/arena.h"

namespace dragoman::ops {
namespace {

constexpr int64_t kLeastScreened = 1024;  // columns

PackedMatrix room(const tensor::Shape& shape, Transpose transpose, Precision precision) {
  base::check_argument(shape.rank() == 2, "packed_weight: the weight is {}, must be a matrix", shape);
  return transpose == Transpose::kYes ? PackedMatrix(shape[1], shape[0], precision)
                                      : PackedMatrix(shape[0], shape[1], precision);
}

void pack_some(PackedMatrix& matrix, const Tensor& weight, Transpose transpose, int64_t begin, int64_t end) {
  begin = std::clamp<int64_t>(begin, 0, matrix.panels());
  end = std::clamp<int64_t>(end, 0, matrix.panels());
  if (begin < end) {
    matrix.pack(weight, transpose, begin, end);
  }
}

}  // namespace

struct PackedWeight::LazyScreen {
  std::once_flag made;
  std::optional<kernels::LogitScreen> screen;
};

PackedWeight::PackedWeight(const tensor::Shape& shape, const PackedWeightLayout& layout)
    : layout_(layout), forward_(room(shape, layout.stored, layout.precision)) {
  if (layout.with_backward) {
    backward_ = room(shape, kernels::flipped(layout.stored), layout.precision);
  } else if (layout.precision == Precision::kFloat32 && forward_.columns() >= kLeastScreened &&
             kernels::LogitScreen::pays()) {
    screen_ = std::make_shared<LazyScreen>();
  }
}

const kernels::LogitScreen* PackedWeight::screen() const {
  if (screen_ == nullptr) {
    return nullptr;
  }
  std::call_once(screen_->made, [&] {
    const tensor::ArenaScope own(std::make_shared<tensor::Arena>());  // it outlives the arena of the first caller
    screen_->screen.emplace(forward_);
  });
  return &*screen_->screen;
}

int64_t PackedWeight::panels() const {
  return forward_.panels() + (backward_ ? backward_->panels() : 0);
}

int64_t PackedWeight::panel_size(int64_t index) const {
  const PackedMatrix& matrix = index < forward_.panels() ? forward_ : *backward_;
  return matrix.rows() * matrix.columns() / matrix.panels();
}

void PackedWeight::pack(const Tensor& weight, int64_t begin, int64_t end) {
  base::check_argument(screen_ == nullptr || !screen_->screen, "packed_weight: packed again after choices were made");
  pack_some(forward_, weight, layout_.stored, begin, end);
  if (backward_) {
    pack_some(*backward_, weight, kernels::flipped(layout_.stored), begin - forward_.panels(), end - forward_.panels());
  }
}

void PackedWeight::pack(const QuantisedWeight& weight) {
  base::check_argument(!backward_, "packed_weight: a quantised weight has no copy for gradients");
  forward_.pack(weight, layout_.stored, 0, forward_.panels());
}

tensor::Shape PackedWeight::shape() const {
  return layout_.stored == Transpose::kYes ? tensor::Shape{forward_.columns(), forward_.rows()}
                                           : tensor::Shape{forward_.rows(), forward_.columns()};
}

void multiply_weight(const Tensor& x, const Weight& weight, Transpose stored, const Tensor& bias, Tensor& y) {
  if (weight.packed != nullptr) {
    weight.packed->forward().multiply(x, {bias, Activation::kNone}, y);
  } else if (weight.int8 != nullptr) {
    const kernels::Int8Product product{*weight.int8, bias, Activation::kNone, y};
    kernels::backend_of(y).multiply_int8(x, {&product, 1});
  } else if (bias.defined()) {
    gemm_bias(x, Transpose::kNo, weight.operand(), stored, bias, y, weight.precision());
  } else {
    gemm(x, Transpose::kNo, weight.operand(), stored, y, weight.precision());
  }
}

void multiply_weight_backward(const Tensor& grad_y, const Weight& weight, Transpose stored, bool accumulate,
                              Tensor& grad_x) {
  const PackedMatrix* packed = weight.packed == nullptr ? nullptr : weight.packed->backward();
  if (packed != nullptr) {
    if (accumulate) {
      packed->multiply_accumulate(grad_y, grad_x);
    } else {
      packed->multiply(grad_y, {}, grad_x);
    }
  } else if (is_bfloat16(grad_x) && (weight.packed != nullptr || weight.precision() != Precision::kBFloat16)) {
    Tensor unrounded = Tensor::empty(grad_x.shape());
    multiply_weight_backward(grad_y, weight, stored, accumulate, unrounded);
    grad_x.copy_from(unrounded.to(grad_x.dtype()));
  } else {
    gemm_to_grad({grad_x, accumulate}, grad_y, Transpose::kNo, weight.operand(), kernels::flipped(stored),
                 weight.precision());
  }
}

void add_weight_grad(const Tensor& x, const Tensor& grad_y, const Weight& weight, Transpose stored) {
  const bool transposed = stored == Transpose::kYes;  // dW^T = dy^T x
  add_product_to_grad(weight.variable, transposed ? grad_y : x, Transpose::kYes, transposed ? x : grad_y,
                      Transpose::kNo, weight.precision());
}

}  // namespace dragoman::ops
