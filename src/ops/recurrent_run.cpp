#include "ops/recurrent_run.h"

#include "kernels/backends/backend_of.h"

namespace dragoman::ops {
namespace {

// The rows of `state` in the order of the plan; zeros if there are none.
Tensor sorted(const Variable& state, const StepPlan& plan, const tensor::Shape& shape, DType dtype) {
  return state.defined() ? gathered(state.value(), plan.order()) : Tensor::zeros(shape, dtype);
}

void add_state_grad(const Variable& state, const StepPlan& plan, const Tensor& grad_sorted) {
  if (state.requires_grad()) {
    state.add_grad(gathered(grad_sorted, plan.ranks()));
  }
}

}  // namespace

RecurrentRun::RecurrentRun(const StepPlan& plan, const RecurrentWeights& weights, const RecurrentState& initial,
                           const Tensor& gates, Tensor output)
    : plan_(plan),
      weights_(weights),
      initial_(initial),
      gates_(gates),
      output_(std::move(output)),
      width_(output_.dim(1)) {
  const DType dtype = gates.dtype();
  const int64_t rows = gates.dim(0), sentences = plan_.sentences();
  before_ = Tensor::empty({rows, width_}, dtype);
  saved_ = Tensor::empty({rows, kernels::kSavedOfCell * width_}, dtype);
  state_gates_ = Tensor::empty({sentences, gates.dim(1)}, dtype);
  const tensor::Shape state_shape{sentences, width_};
  if (weights_.cell == CellKind::kLstm) {
    cells_ = Tensor::empty({rows, width_}, dtype);
    first_cell_ = sorted(initial_.cell, plan_, state_shape, dtype);
  }
  if (plan_.steps() > 0) {
    Tensor first = hidden_before(0);
    first.copy_from(sorted(initial_.hidden, plan_, state_shape, dtype).rows(0, first.dim(0)));
  }
}

void RecurrentRun::keep_sums() {
  state_sums_ = Tensor::empty(gates_.shape(), gates_.dtype());
}

CellValues RecurrentRun::values() const {
  const auto ragged = [&](const Tensor& of_places) {
    return of_places.defined() ? gathered(of_places, plan_.places()) : Tensor();
  };
  CellValues values;
  values.state_sums = ragged(state_sums_);
  values.fed_sums = ragged(fed_sums_);
  values.gates = ragged(saved_).columns(0, gates_.dim(1)).clone();
  values.before = ragged(before_);
  values.state = output_.clone();
  if (cells_.defined()) {
    Tensor before = Tensor::empty(cells_.shape(), cells_.dtype());
    for (int64_t step = 0; step < plan_.steps(); ++step) {
      plan_.part(before, step).copy_from(cell_before(step));
    }
    values.cell_before = ragged(before);
    values.cell = ragged(cells_);
  }
  return values;
}

Tensor RecurrentRun::cell_before(int64_t step) const {
  if (!cells_.defined()) {
    return {};
  }
  return (step == 0 ? first_cell_ : plan_.part(cells_, step - 1)).rows(0, plan_.active(step));
}

void RecurrentRun::forward(int64_t step, const Tensor* fed_gates) {
  const Tensor hidden = hidden_before(step), cell = cell_before(step), rows = plan_.rows(step);
  Tensor state_gates = state_gates_.rows(0, plan_.active(step)), saved = plan_.part(saved_, step);
  multiply_weight(hidden, weights_.state, Transpose::kNo, weights_.bias.value(), state_gates);
  if (state_sums_.defined()) {
    keep_sums_of(step, state_gates, fed_gates);
  }
  const int64_t next = plan_.first(step + 1);
  Tensor next_hidden = before_.rows(next, next + plan_.active(step + 1));
  Tensor next_cell = cells_.defined() ? plan_.part(cells_, step) : Tensor();
  kernels::backend_of(gates_).recurrent_cell(
      {weights_.cell, gates_, fed_gates, state_gates, rows, hidden, cell, saved, output_, next_hidden, next_cell});
}

void RecurrentRun::keep_sums_of(int64_t step, const Tensor& state_gates, const Tensor* fed_gates) {
  plan_.part(state_sums_, step).copy_from(state_gates);
  if (fed_gates != nullptr) {
    fed_sums_ = fed_sums_.defined() ? fed_sums_ : Tensor::empty(gates_.shape(), gates_.dtype());
    plan_.part(fed_sums_, step).copy_from(*fed_gates);
  }
}

LastState RecurrentRun::last_state() const {
  LastState last;
  last.hidden = gathered(output_, plan_.last_rows());
  if (cells_.defined()) {
    last.cell = gathered(gathered(cells_, plan_.places()), plan_.last_rows());
  }
  return last;
}

void RecurrentRun::begin_backward(const Tensor& grad_output) {
  const DType dtype = gates_.dtype();
  grad_output_ = grad_output;
  grad_hidden_ = Tensor::zeros({plan_.sentences(), width_}, dtype);
  grad_cell_ = cells_.defined() ? Tensor::zeros({plan_.sentences(), width_}, dtype) : Tensor();
  grad_gates_ = Tensor::empty(gates_.shape(), dtype);
  grad_state_gates_ = Tensor::empty(gates_.shape(), dtype);
}

void RecurrentRun::backward(int64_t step) {
  const Tensor hidden = hidden_before(step), cell = cell_before(step), rows = plan_.rows(step);
  const Tensor saved = plan_.part(saved_, step), next_cell = cells_.defined() ? plan_.part(cells_, step) : Tensor();
  Tensor grad_hidden = grad_after(step), grad_state_gates = plan_.part(grad_state_gates_, step);
  Tensor grad_cell = cells_.defined() ? grad_cell_.rows(0, plan_.active(step)) : Tensor();
  kernels::backend_of(gates_).recurrent_cell_backward({weights_.cell, saved, rows, hidden, cell, next_cell,
                                                       grad_output_, grad_hidden, grad_cell, grad_gates_,
                                                       grad_state_gates});
  multiply_weight_backward(grad_state_gates, weights_.state, Transpose::kNo, /*accumulate=*/true, grad_hidden);
}

Tensor RecurrentRun::finish_backward() {
  add_weight_grad(before_, grad_state_gates_, weights_.state, Transpose::kNo);
  if (weights_.bias.requires_grad()) {
    Tensor sums = Tensor::zeros(weights_.bias.shape(), gates_.dtype());  // [G*H]
    kernels::backend_of(sums).sum_rows_accumulate(grad_state_gates_, sums);
    weights_.bias.add_grad(sums);
  }
  add_state_grad(initial_.hidden, plan_, grad_hidden_);
  add_state_grad(initial_.cell, plan_, grad_cell_);
  return grad_gates_;
}

}  // namespace dragoman::ops
