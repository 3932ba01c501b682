#include "autograd/variable.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "tensor/transfer.h"

namespace dragoman::autograd {
namespace {

Tape*& thread_tape() {
  thread_local Tape* tape = nullptr;
  return tape;
}

}  // namespace

Variable::Variable(Tensor value, bool requires_grad) : state_(std::make_shared<State>()) {
  state_->value = std::move(value);
  state_->requires_grad = requires_grad;
}

const Tensor& Variable::grad() const {
  base::check_argument(state_ != nullptr && state_->has_grad,
                       "variable: gradient requested before it was computed; run Tape::backward first");
  return state_->grad;
}

void Variable::clear_grad() {
  state_->has_grad = false;
  state_->is_final = false;
  state_->used_on = nullptr;
  state_->columns_taken = false;
  if (!state_->bound) {
    state_->grad = Tensor();
  }
}

void Variable::bind_grad(Tensor buffer) {
  base::check_argument(buffer.shape() == shape() && buffer.dtype() == dtype(),
                       "variable: gradient buffer of shape {} ({}) for a variable of shape {} ({})", buffer.shape(),
                       tensor::dtype_name(buffer.dtype()), shape(), tensor::dtype_name(dtype()));
  state_->grad = std::move(buffer);
  state_->bound = true;
  state_->has_grad = false;
}

void Variable::add_grad(Tensor grad) const {
  if (!requires_grad()) {
    return;
  }
  base::check_argument(grad.shape() == shape() && grad.dtype() == dtype(),
                       "variable: gradient of shape {} ({}) for a variable of shape {} ({})", grad.shape(),
                       tensor::dtype_name(grad.dtype()), shape(), tensor::dtype_name(dtype()));
  check_not_final();
  const bool keeps_columns = state_->joined != nullptr && !state_->has_grad && !state_->bound;
  if (!grad.is_contiguous() && !keeps_columns) {
    grad = grad.clone();
  }
  if (state_->has_grad) {
    if (!state_->bound && state_->grad.is_shared()) {
      state_->grad = state_->grad.clone();  // the first part was handed on by an op that passes gradients through
    }
    kernels::backend_of(state_->grad).add_in_place(state_->grad, grad);
  } else if (state_->bound) {
    state_->grad.copy_from(grad);
  } else {
    state_->grad = std::move(grad);
  }
  state_->has_grad = true;
}

void Variable::check_not_final() const {
  base::check_argument(
      !state_->is_final,
      "variable: a gradient of shape {} is added to after it was declared final; every op must name the "
      "parameters it uses to autograd::record",
      shape());
}

GradTarget Variable::grad_target() const {
  check_not_final();
  if (!state_->grad.defined()) {
    state_->grad = Tensor::empty(shape(), dtype());
  } else if (!state_->bound && state_->grad.is_shared()) {
    state_->grad = state_->grad.clone();  // handed on by an op that passes gradients through, as in add_grad
  }
  return {state_->grad, std::exchange(state_->has_grad, true)};
}

void Variable::join_grad(std::shared_ptr<JoinedGrad> joined, int64_t first) {
  state_->joined = std::move(joined);
  state_->first_column = first;
}

Tensor Variable::empty_grad() const {
  if (state_->joined == nullptr || std::exchange(state_->columns_taken, true)) {
    return Tensor::empty(shape(), dtype());
  }
  JoinedGrad& joined = *state_->joined;
  if (!joined.whole.defined()) {
    joined.whole = Tensor::empty({dim(0), joined.width}, dtype());
  }
  return joined.whole.columns(state_->first_column, state_->first_column + dim(1));
}

void Tape::push(const char* op, Variable output, Backward backward) {
  if (outer_ == nullptr) {
    nodes_.push_back({op, std::move(output), std::move(backward)});
  }
}

void Tape::backward(const Variable& loss, double scale) {
  base::check_argument(loss.value().size() == 1, "backward: loss has shape {}, must be one element", loss.shape());
  const auto gradient = [&] { return Tensor::full(loss.shape(), scale, loss.dtype()); };
  if (loss.state_->is_grad_on_host) {
    const auto on_host = [&] {
      const tensor::HostScope scope;
      return gradient();
    };
    return backward_from(loss, on_host());
  }
  backward_from(loss, gradient());
}

void Tape::backward_from(const Variable& output, Tensor grad_output) {
  output.add_grad(std::move(grad_output));
  const TapeScope nothing_recorded(nullptr);
  while (!nodes_.empty()) {
    Node node = std::move(nodes_.back());
    nodes_.pop_back();
    if (!node.output.has_grad()) {
      continue;  // not on the way to the loss
    }
    node.backward(node.output.grad());
    node.output.clear_grad();
    declare_final(nodes_.size());
  }
  declare_final(0);
}

void Tape::note_inputs(std::initializer_list<const Variable*> inputs) {
  if (outer_ != nullptr) {
    return outer_->note_inputs(inputs);
  }
  if (!final_hook_) {
    return;
  }
  for (const Variable* input : inputs) {
    if (input->requires_grad() && input->state_->bound && std::exchange(input->state_->used_on, this) != this) {
      first_uses_.push_back({nodes_.size(), *input});
    }
  }
}

// All nodes from `node` on have run.
void Tape::declare_final(size_t node) {
  for (; !first_uses_.empty() && first_uses_.back().node >= node; first_uses_.pop_back()) {
    const Variable& variable = first_uses_.back().variable;
    variable.state_->used_on = nullptr;
    if (variable.has_grad()) {
      variable.state_->is_final = true;
      final_hook_(variable);
    }
  }
}

int& Tape::tapes_of_thread() {
  thread_local int tapes = 0;
  return tapes;
}

Tape* Tape::active() {
  return thread_tape();
}

TapeScope::TapeScope(Tape* tape) : previous_(std::exchange(thread_tape(), tape)) {}

TapeScope::~TapeScope() {
  thread_tape() = previous_;
}

bool needs_grad(std::initializer_list<const Variable*> inputs) {
  return Tape::active() != nullptr &&
         std::ranges::any_of(inputs, [](const Variable* input) { return input->requires_grad(); });
}

Variable record(const char* op, Tensor value, std::initializer_list<const Variable*> inputs, Tape::Backward backward) {
  if (!needs_grad(inputs)) {
    return Variable(std::move(value));
  }
  Variable output(std::move(value), /*requires_grad=*/true);
  Tape::active()->note_inputs(inputs);
  Tape::active()->push(op, output, std::move(backward));
  return output;
}

}  // namespace dragoman::autograd
