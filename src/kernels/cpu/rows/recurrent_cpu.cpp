#include "kernels/cpu/rows/recurrent_cpu.h"

#include "kernels/cpu/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rows/recurrent_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/simd/activation-inl.h"
#include "kernels/row_of.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace {

// What the cell reads and writes of one sentence.
struct CellRow {
  CellRow(const RecurrentCellForward& step, int64_t k)
      : gates(row_of<float>(step.gates, step.rows.data<int32_t>()[k])),
        fed_gates(step.fed_gates == nullptr ? nullptr : row_of<float>(*step.fed_gates, k)),
        state_gates(row_of<float>(step.state_gates, k)),
        hidden(row_of<float>(step.hidden, k)),
        saved(row_of<float>(step.saved, k)),
        output(row_of<float>(step.output, step.rows.data<int32_t>()[k])),
        next_hidden(k < step.next_hidden.dim(0) ? row_of<float>(step.next_hidden, k) : nullptr) {}

  template <class Part>
  HWY_INLINE RowVector input(Part part, int64_t column) const {
    const RowVector x = part.load(gates + column);
    return fed_gates == nullptr ? x : hn::Add(x, part.load(fed_gates + column));
  }
  template <class Part>
  HWY_INLINE void put(Part part, RowVector h, int64_t column) const {
    part.store(h, output + column);
    if (next_hidden != nullptr) {
      part.store(h, next_hidden + column);
    }
  }

  const float *gates, *fed_gates, *state_gates, *hidden;
  float *saved, *output, *next_hidden;
};

void gru_step(const RecurrentCellForward& step) {
  const int64_t h = step.hidden.dim(1);
  for (int64_t k = 0; k < step.rows.dim(0); ++k) {
    const CellRow row(step, k);
    for_each_vector(h, [&](auto part, int64_t c) HWY_ATTR {
      const RowVector r = sigmoid(hn::Add(row.input(part, c), part.load(row.state_gates + c)));
      const RowVector z = sigmoid(hn::Add(row.input(part, h + c), part.load(row.state_gates + h + c)));
      const RowVector from_state = part.load(row.state_gates + 2 * h + c);
      const RowVector n = tanh_of(hn::MulAdd(r, from_state, row.input(part, 2 * h + c)));
      part.store(r, row.saved + c);
      part.store(z, row.saved + h + c);
      part.store(n, row.saved + 2 * h + c);
      part.store(from_state, row.saved + 3 * h + c);
      row.put(part, hn::MulAdd(z, hn::Sub(part.load(row.hidden + c), n), n), c);
    });
  }
}

void lstm_step(const RecurrentCellForward& step) {
  const int64_t h = step.hidden.dim(1);
  for (int64_t k = 0; k < step.rows.dim(0); ++k) {
    const CellRow row(step, k);
    const float* before = row_of<float>(step.cell, k);
    float* after = row_of<float>(step.next_cell, k);
    for_each_vector(h, [&](auto part, int64_t c) HWY_ATTR {
      const auto sum = [&](int64_t column)
                           HWY_ATTR { return hn::Add(row.input(part, column), part.load(row.state_gates + column)); };
      const RowVector i = sigmoid(sum(c)), f = sigmoid(sum(h + c));
      const RowVector g = tanh_of(sum(2 * h + c)), o = sigmoid(sum(3 * h + c));
      part.store(i, row.saved + c);
      part.store(f, row.saved + h + c);
      part.store(g, row.saved + 2 * h + c);
      part.store(o, row.saved + 3 * h + c);
      const RowVector cell = hn::MulAdd(f, part.load(before + c), hn::Mul(i, g));
      part.store(cell, after + c);
      row.put(part, hn::Mul(o, tanh_of(cell)), c);
    });
  }
}

// y (1 - y), the slope of a sigmoid.
HWY_INLINE RowVector sigmoid_slope(RowVector y) {
  return hn::NegMulAdd(y, y, y);
}

// 1 - y^2, the slope of a tanh.
HWY_INLINE RowVector tanh_slope(RowVector y) {
  return hn::NegMulAdd(y, y, hn::Set(RowTag(), 1.0F));
}

void gru_step_backward(const RecurrentCellBackward& step) {
  const int64_t h = step.hidden.dim(1);
  for (int64_t k = 0; k < step.rows.dim(0); ++k) {
    const int64_t row = step.rows.data<int32_t>()[k];
    const float *saved = row_of<float>(step.saved, k), *before = row_of<float>(step.hidden, k);
    const float* grad_output = row_of<float>(step.grad_output, row);
    float *carry = row_of<float>(step.grad_hidden, k), *gates = row_of<float>(step.grad_gates, row);
    float* state_gates = row_of<float>(step.grad_state_gates, k);
    for_each_vector(h, [&](auto part, int64_t c) HWY_ATTR {
      const RowVector r = part.load(saved + c), z = part.load(saved + h + c), n = part.load(saved + 2 * h + c);
      const RowVector grad = hn::Add(part.load(grad_output + c), part.load(carry + c));
      const RowVector through_z = hn::Mul(grad, z);
      const RowVector grad_n = hn::Mul(hn::Sub(grad, through_z), tanh_slope(n));
      const RowVector grad_r = hn::Mul(hn::Mul(grad_n, part.load(saved + 3 * h + c)), sigmoid_slope(r));
      const RowVector grad_z = hn::Mul(hn::Mul(grad, hn::Sub(part.load(before + c), n)), sigmoid_slope(z));
      part.store(grad_r, gates + c);
      part.store(grad_r, state_gates + c);
      part.store(grad_z, gates + h + c);
      part.store(grad_z, state_gates + h + c);
      part.store(grad_n, gates + 2 * h + c);
      part.store(hn::Mul(grad_n, r), state_gates + 2 * h + c);
      part.store(through_z, carry + c);
    });
  }
}

void lstm_step_backward(const RecurrentCellBackward& step) {
  const int64_t h = step.cell.dim(1);
  for (int64_t k = 0; k < step.rows.dim(0); ++k) {
    const int64_t row = step.rows.data<int32_t>()[k];
    const float *saved = row_of<float>(step.saved, k), *before = row_of<float>(step.cell, k);
    const float *after = row_of<float>(step.next_cell, k), *grad_output = row_of<float>(step.grad_output, row);
    float *carry = row_of<float>(step.grad_hidden, k), *cell_carry = row_of<float>(step.grad_cell, k);
    float *gates = row_of<float>(step.grad_gates, row), *state_gates = row_of<float>(step.grad_state_gates, k);
    for_each_vector(h, [&](auto part, int64_t c) HWY_ATTR {
      const RowVector i = part.load(saved + c), f = part.load(saved + h + c);
      const RowVector g = part.load(saved + 2 * h + c), o = part.load(saved + 3 * h + c);
      const RowVector squashed = tanh_of(part.load(after + c));
      const RowVector grad = hn::Add(part.load(grad_output + c), part.load(carry + c));
      const RowVector grad_cell = hn::MulAdd(hn::Mul(grad, o), tanh_slope(squashed), part.load(cell_carry + c));
      const auto put = [&](RowVector slope, int64_t column) HWY_ATTR {
        part.store(slope, gates + column);
        part.store(slope, state_gates + column);
      };
      put(hn::Mul(hn::Mul(grad_cell, g), sigmoid_slope(i)), c);
      put(hn::Mul(hn::Mul(grad_cell, part.load(before + c)), sigmoid_slope(f)), h + c);
      put(hn::Mul(hn::Mul(grad_cell, i), tanh_slope(g)), 2 * h + c);
      put(hn::Mul(hn::Mul(grad, squashed), sigmoid_slope(o)), 3 * h + c);
      part.store(hn::Zero(RowTag()), carry + c);
      part.store(hn::Mul(grad_cell, f), cell_carry + c);
    });
  }
}

void cell_step(const RecurrentCellForward& step) {
  step.kind == CellKind::kGru ? gru_step(step) : lstm_step(step);
}

void cell_step_backward(const RecurrentCellBackward& step) {
  step.kind == CellKind::kGru ? gru_step_backward(step) : lstm_step_backward(step);
}

}  // namespace
}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::kernels {

HWY_EXPORT(cell_step);
HWY_EXPORT(cell_step_backward);

void recurrent_cell_cpu(const RecurrentCellForward& step) {
  DRAGOMAN_DISPATCH(cell_step)(step);
}

void recurrent_cell_backward_cpu(const RecurrentCellBackward& step) {
  DRAGOMAN_DISPATCH(cell_step_backward)(step);
}

}  // namespace dragoman::kernels
#endif
