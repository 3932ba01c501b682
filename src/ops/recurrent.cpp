#include "ops/recurrent.h"

#include <memory>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "kernels/check_ids.h"
#include "ops/elementwise.h"
#include "ops/product_grad.h"

namespace dragoman::ops {
namespace {

void check_layer(const char* op, const Variable& gates, const RecurrentWeights& weights, const RecurrentState& initial,
                 const StepPlan& plan) {
  kernels::check_float(gates.value(), op, "gates");
  const tensor::Shape state = weights.state.shape();
  const int64_t columns = kernels::gates_of(weights.cell) * state[0];
  base::check_argument(gates.value().rank() == 2 && gates.dim(1) == columns && state[1] == columns,
                       "{}: gates are {}, state weights {}; must be [N, {}] and [{}, {}] for a {}", op, gates.shape(),
                       state, columns, state[0], columns, kernels::name_of(weights.cell));
  tensor::check_shape(weights.bias.value(), {columns}, op, "bias");
  for (const Variable& part : {initial.hidden, initial.cell}) {
    if (part.defined()) {
      tensor::check_shape(part.value(), {plan.sentences(), state[0]}, op, "initial state");
    }
  }
}

void put_last_state(const RecurrentRun& run, const char* op, LastState* last) {
  if (last != nullptr) {
    base::check_argument(!run.plan().has_empty_sentence(), "{}: an empty sentence has no last state", op);
    *last = run.last_state();
  }
}

// Gives what else was asked for of a layer that attends.
template <typename Run>
void put_extras(const Run& run, const char* op, const LayerExtras& extras) {
  put_last_state(run.cells(), op, extras.last);
  if (extras.attention != nullptr) {
    *extras.attention = run.attention();
  }
  if (extras.values != nullptr) {
    *extras.values = run.values();
  }
}

// y_t = [s_t, c_t];  c_t = Attention(s_{t-1}),  s_t = cell(gates_t + c_t W_fed, s_{t-1})
class AttentiveRun {
 public:
  AttentiveRun(const StepPlan& plan, const Variable& gates, const AttentiveWeights& weights, const SourceMemory& memory,
               const RecurrentState& initial)
      : gates_(gates),
        weights_(weights),
        attention_(plan, weights, memory, gates.dtype()),
        width_(weights.cell.state.shape()[0]),
        output_(Tensor::empty({gates.dim(0), width_ + attention_.context_width()}, gates.dtype())),
        cells_(plan, weights.cell, initial, gates.value(), output_.columns(0, width_)) {}

  void forward() {
    const StepPlan& plan = cells_.plan();
    Tensor contexts = Tensor::empty({output_.dim(0), attention_.context_width()}, output_.dtype());  // of places
    Tensor fed_gates = Tensor::empty({plan.sentences(), gates_.dim(1)}, output_.dtype());
    for (int64_t step = 0; step < plan.steps(); ++step) {
      const Tensor context = plan.part(contexts, step);
      Tensor fed = fed_gates.rows(0, plan.active(step));
      attention_.forward(step, cells_.hidden_before(step), context);
      multiply_weight(context, weights_.fed, Transpose::kNo, {}, fed);
      cells_.forward(step, &fed);
    }
    Tensor ragged = output_.columns(width_, output_.dim(1));
    kernels::backend_of(ragged).gather_rows(contexts, plan.places(), 1.0F, ragged);
  }

  void backward(const Tensor& grad_output) {
    const StepPlan& plan = cells_.plan();
    Tensor grad_contexts = gathered(grad_output.columns(width_, output_.dim(1)), plan.rows());  // of places
    cells_.begin_backward(grad_output.columns(0, width_));
    attention_.begin_backward();
    for (int64_t step = plan.steps() - 1; step >= 0; --step) {
      cells_.backward(step);
      Tensor grad_context = plan.part(grad_contexts, step);
      multiply_weight_backward(gathered(cells_.grad_gates(), plan.rows(step)), weights_.fed, Transpose::kNo,
                               /*accumulate=*/true, grad_context);
      attention_.backward(step, cells_.hidden_before(step), grad_context, cells_.grad_after(step));
    }
    const Tensor grad_gates = cells_.finish_backward();
    add_weight_grad(output_.columns(width_, output_.dim(1)), grad_gates, weights_.fed, Transpose::kNo);
    attention_.finish_backward(cells_.states_before());
    gates_.add_grad(grad_gates);
  }

  void keep_values() { cells_.keep_sums(); }
  LayerValues values() const {
    LayerValues values{.cells = cells_.values()};
    values.context = values.fed = output_.columns(width_, output_.dim(1)).clone();
    values.query = attention_.queries().defined() ? attention_.queries() : values.cells.before;
    return values;
  }

  const Tensor& output() const { return output_; }
  const RecurrentRun& cells() const { return cells_; }
  Tensor attention() const { return attention_.attention(); }

 private:
  Variable gates_;
  AttentiveWeights weights_;
  StepAttention attention_;
  int64_t width_;  // H
  Tensor output_;  // [N, H + C]
  RecurrentRun cells_;
};

// y_t = tanh([c_t, s_t] Wc + b);  s_t = cell(gates_t + y_{t-1} W_fed, s_{t-1}),  c_t = Attention(s_t)
class InputFeedingRun {
 public:
  InputFeedingRun(const StepPlan& plan, const Variable& gates, const AttentiveWeights& weights,
                  const SourceMemory& memory, const RecurrentState& initial, const Variable& fed)
      : gates_(gates),
        weights_(weights),
        first_fed_(fed),
        attention_(plan, weights, memory, gates.dtype()),
        context_(attention_.context_width()),
        attended_(Tensor::empty({gates.dim(0), weights.combine.shape()[0]}, gates.dtype())),
        sums_(Tensor::empty({gates.dim(0), weights.combine.shape()[1]}, gates.dtype())),
        fed_(Tensor::empty(sums_.shape(), gates.dtype())),
        cells_(plan, weights.cell, initial, gates.value(),
               Tensor::empty({gates.dim(0), weights.cell.state.shape()[0]}, gates.dtype())) {}

  // Returns: y [N, F].
  Tensor forward() {
    const StepPlan& plan = cells_.plan();
    const kernels::Backend& backend = kernels::backend_of(sums_);
    Tensor results = Tensor::empty(sums_.shape(), sums_.dtype());  // y of places
    Tensor fed_gates = Tensor::empty({plan.sentences(), gates_.dim(1)}, sums_.dtype());
    begin_feeding();
    for (int64_t step = 0; step < plan.steps(); ++step) {
      Tensor from_fed = fed_gates.rows(0, plan.active(step));
      multiply_weight(plan.part(fed_, step), weights_.fed, Transpose::kNo, {}, from_fed);
      cells_.forward(step, &from_fed);
      const Tensor attended = plan.part(attended_, step);
      Tensor states = states_of(attended), sums = plan.part(sums_, step), result = plan.part(results, step);
      backend.gather_rows(cells_.output(), plan.rows(step), 1.0F, states);
      attention_.forward(step, states, attended.columns(0, context_));
      multiply_weight(attended, weights_.combine, Transpose::kNo, weights_.combine_bias.value(), sums);
      backend.activation(sums, Activation::kTanh, {}, result);
      feed(step + 1, result);
    }
    return gathered(results, plan.places());
  }

  void backward(const Tensor& grad_output) {
    const StepPlan& plan = cells_.plan();
    const kernels::Backend& backend = kernels::backend_of(sums_);
    Tensor grad_sums = gathered(grad_output, plan.rows());  // of y, then of the sums, of places
    Tensor grad_attended = Tensor::empty(attended_.shape(), sums_.dtype());
    Tensor grad_states = Tensor::zeros(cells_.output().shape(), sums_.dtype());  // of ragged rows
    Tensor grad_fed = Tensor::zeros({plan.sentences(), sums_.dim(1)}, sums_.dtype());
    cells_.begin_backward(grad_states);
    attention_.begin_backward();
    for (int64_t step = plan.steps() - 1; step >= 0; --step) {
      Tensor grad_sum = plan.part(grad_sums, step), fed = grad_fed.rows(0, plan.active(step));
      backend.rows_accumulate(fed, grad_sum);
      backend.activation_backward(plan.part(sums_, step), grad_sum, Activation::kTanh, {}, grad_sum);
      Tensor grads = plan.part(grad_attended, step);
      multiply_weight_backward(grad_sum, weights_.combine, Transpose::kNo, /*accumulate=*/false, grads);
      attention_.backward(step, states_of(plan.part(attended_, step)), grads.columns(0, context_), states_of(grads));
      backend.scatter_rows_accumulate(states_of(grads), plan.rows(step), 1.0F, grad_states);
      cells_.backward(step);
      multiply_weight_backward(gathered(cells_.grad_gates(), plan.rows(step)), weights_.fed, Transpose::kNo,
                               /*accumulate=*/false, fed);
    }
    finish_backward(grad_sums, grad_fed);
  }

  void keep_values() { cells_.keep_sums(); }
  LayerValues values() const {
    const Tensor& places = cells_.plan().places();
    LayerValues values{.cells = cells_.values()};
    values.fed = gathered(fed_, places);
    values.query = attention_.queries().defined() ? attention_.queries() : values.cells.state;
    values.context = gathered(attended_, places).columns(0, context_).clone();
    values.sums = gathered(sums_, places);
    return values;
  }

  const RecurrentRun& cells() const { return cells_; }
  Tensor attention() const { return attention_.attention(); }

 private:
  Tensor states_of(const Tensor& attended) const { return attended.columns(context_, attended.dim(1)); }

  void begin_feeding() {
    const StepPlan& plan = cells_.plan();
    if (plan.steps() > 0 && first_fed_.defined()) {
      feed(0, gathered(first_fed_.value(), plan.order()));
    } else if (plan.steps() > 0) {
      plan.part(fed_, 0).zero();
    }
  }

  // What goes into a step: the first of these rows.
  void feed(int64_t step, const Tensor& rows) {
    if (step < cells_.plan().steps()) {
      Tensor fed = cells_.plan().part(fed_, step);
      fed.copy_from(rows.rows(0, fed.dim(0)));
    }
  }

  void finish_backward(const Tensor& grad_sums, const Tensor& grad_fed) {
    const StepPlan& plan = cells_.plan();
    const Tensor grad_gates = cells_.finish_backward();
    add_weight_grad(gathered(fed_, plan.places()), grad_gates, weights_.fed, Transpose::kNo);
    add_weight_grad(attended_, grad_sums, weights_.combine, Transpose::kNo);
    add_bias_grad(weights_.combine_bias, grad_sums);
    attention_.finish_backward(states_of(attended_));
    if (first_fed_.requires_grad()) {
      first_fed_.add_grad(gathered(grad_fed, plan.ranks()));
    }
    gates_.add_grad(grad_gates);
  }

  Variable gates_;
  AttentiveWeights weights_;
  Variable first_fed_;
  StepAttention attention_;
  int64_t context_;  // C
  Tensor attended_;  // [N, C + H] of places
  Tensor sums_;      // [N, F] of places, before the tanh
  Tensor fed_;       // [N, F] of places, y of the step before
  RecurrentRun cells_;
};

}  // namespace

Variable recurrent_layer(const Variable& gates, const Tensor& offsets, const RecurrentWeights& weights,
                         const RecurrentState& initial, Direction direction, const LayerExtras& extras) {
  constexpr const char* kOp = "recurrent_layer";
  const Variable x = widened(gates);
  const StepPlan plan(offsets, x.dim(0), direction, kOp);
  check_layer(kOp, x, weights, initial, plan);
  const auto run = std::make_shared<RecurrentRun>(
      plan, weights, initial, x.value(), Tensor::empty({x.dim(0), weights.state.shape()[0]}, x.dtype()));  // h [N, H]
  if (extras.values != nullptr) {
    run->keep_sums();
  }
  for (int64_t step = 0; step < plan.steps(); ++step) {
    run->forward(step, nullptr);
  }
  put_last_state(*run, kOp, extras.last);
  if (extras.values != nullptr) {
    *extras.values = {.cells = run->values()};
  }
  const auto backward = [run, x](const Tensor& grad_output) {
    run->begin_backward(grad_output);
    for (int64_t step = run->plan().steps() - 1; step >= 0; --step) {
      run->backward(step);
    }
    x.add_grad(run->finish_backward());
  };
  return autograd::record(kOp, run->output(),
                          {&x, &weights.state.variable, &weights.bias, &initial.hidden, &initial.cell}, backward);
}

Variable attentive_layer(const Variable& gates, const Tensor& offsets, const AttentiveWeights& weights,
                         const SourceMemory& memory, const RecurrentState& initial, const LayerExtras& extras) {
  constexpr const char* kOp = "attentive_layer";
  const Variable x = widened(gates);
  const StepPlan plan(offsets, x.dim(0), Direction::kForward, kOp);
  check_layer(kOp, x, weights.cell, initial, plan);
  const auto run = std::make_shared<AttentiveRun>(plan, x, weights, memory, initial);
  if (extras.values != nullptr) {
    run->keep_values();
  }
  run->forward();
  put_extras(*run, kOp, extras);
  return autograd::record(
      kOp, run->output(),
      {&x, &weights.cell.state.variable, &weights.cell.bias, &weights.fed.variable, &weights.query.variable,
       &weights.score, &memory.keys, &memory.values, &initial.hidden, &initial.cell},
      [run](const Tensor& grad_output) { run->backward(grad_output); });
}

Variable input_feeding_layer(const Variable& gates, const Tensor& offsets, const AttentiveWeights& weights,
                             const SourceMemory& memory, const RecurrentState& initial, const Variable& fed,
                             const LayerExtras& extras) {
  constexpr const char* kOp = "input_feeding_layer";
  const Variable x = widened(gates);
  const StepPlan plan(offsets, x.dim(0), Direction::kForward, kOp);
  check_layer(kOp, x, weights.cell, initial, plan);
  const auto run = std::make_shared<InputFeedingRun>(plan, x, weights, memory, initial, fed);
  if (extras.values != nullptr) {
    run->keep_values();
  }
  const Tensor y = run->forward();
  put_extras(*run, kOp, extras);
  return autograd::record(kOp, y,
                          {&x, &weights.cell.state.variable, &weights.cell.bias, &weights.fed.variable,
                           &weights.query.variable, &weights.score, &weights.combine.variable, &weights.combine_bias,
                           &memory.keys, &memory.values, &initial.hidden, &initial.cell, &fed},
                          [run](const Tensor& grad_output) { run->backward(grad_output); });
}

}  // namespace dragoman::ops
