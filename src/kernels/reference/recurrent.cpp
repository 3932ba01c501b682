#include "kernels/reference/recurrent.h"

#include <cmath>
#include <vector>

#include "kernels/reference/activation.h"
#include "kernels/row_of.h"

namespace dragoman::kernels::reference {
namespace {

// What the cell reads of sentence k of the step.
struct Inputs {
  std::vector<double> gates;  // [G*H], with what was fed
  const double* state_gates;
  const double* hidden;
};

Inputs inputs_of(const RecurrentCellForward& step, int64_t k) {
  const int64_t width = step.gates.dim(1);
  const double* gates = row_of<double>(step.gates, step.rows.data<int32_t>()[k]);
  Inputs in{{gates, gates + width}, row_of<double>(step.state_gates, k), row_of<double>(step.hidden, k)};
  for (int64_t c = 0; step.fed_gates != nullptr && c < width; ++c) {
    in.gates[static_cast<size_t>(c)] += row_of<double>(*step.fed_gates, k)[c];
  }
  return in;
}

// h'
double gru_unit(const Inputs& in, int64_t c, int64_t h, double* saved) {
  const double* x = in.gates.data();
  const double r = sigmoid(x[c] + in.state_gates[c]);
  const double z = sigmoid(x[h + c] + in.state_gates[h + c]);
  const double from_state = in.state_gates[2 * h + c];
  const double n = std::tanh(x[2 * h + c] + r * from_state);
  saved[c] = r, saved[h + c] = z, saved[2 * h + c] = n, saved[3 * h + c] = from_state;
  return (1 - z) * n + z * in.hidden[c];
}

// c'; the output gate is in `saved`
double lstm_unit(const Inputs& in, int64_t c, int64_t h, double cell, double* saved) {
  const double* x = in.gates.data();
  for (int64_t gate = 0; gate < 4; ++gate) {
    const double sum = x[gate * h + c] + in.state_gates[gate * h + c];
    saved[gate * h + c] = gate == 2 ? std::tanh(sum) : sigmoid(sum);
  }
  return saved[h + c] * cell + saved[c] * saved[2 * h + c];
}

void gru_backward(const RecurrentCellBackward& step, int64_t k) {
  const int64_t h = step.hidden.dim(1), row = step.rows.data<int32_t>()[k];
  const double *saved = row_of<double>(step.saved, k), *before = row_of<double>(step.hidden, k);
  double *gates = row_of<double>(step.grad_gates, row), *state_gates = row_of<double>(step.grad_state_gates, k);
  double* carry = row_of<double>(step.grad_hidden, k);
  for (int64_t c = 0; c < h; ++c) {
    const double r = saved[c], z = saved[h + c], n = saved[2 * h + c], from_state = saved[3 * h + c];
    const double grad = row_of<double>(step.grad_output, row)[c] + carry[c];
    const double grad_n = grad * (1 - z) * (1 - n * n);
    gates[c] = state_gates[c] = grad_n * from_state * r * (1 - r);
    gates[h + c] = state_gates[h + c] = grad * (before[c] - n) * z * (1 - z);
    gates[2 * h + c] = grad_n;
    state_gates[2 * h + c] = grad_n * r;
    carry[c] = grad * z;
  }
}

void lstm_backward(const RecurrentCellBackward& step, int64_t k) {
  const int64_t h = step.cell.dim(1), row = step.rows.data<int32_t>()[k];
  const double *saved = row_of<double>(step.saved, k), *before = row_of<double>(step.cell, k);
  double *gates = row_of<double>(step.grad_gates, row), *state_gates = row_of<double>(step.grad_state_gates, k);
  double *carry = row_of<double>(step.grad_hidden, k), *cell_carry = row_of<double>(step.grad_cell, k);
  for (int64_t c = 0; c < h; ++c) {
    const double i = saved[c], f = saved[h + c], g = saved[2 * h + c], o = saved[3 * h + c];
    const double squashed = std::tanh(row_of<double>(step.next_cell, k)[c]);
    const double grad = row_of<double>(step.grad_output, row)[c] + carry[c];
    const double grad_cell = cell_carry[c] + grad * o * (1 - squashed * squashed);
    gates[c] = state_gates[c] = grad_cell * g * i * (1 - i);
    gates[h + c] = state_gates[h + c] = grad_cell * before[c] * f * (1 - f);
    gates[2 * h + c] = state_gates[2 * h + c] = grad_cell * i * (1 - g * g);
    gates[3 * h + c] = state_gates[3 * h + c] = grad * squashed * o * (1 - o);
    carry[c] = 0;
    cell_carry[c] = grad_cell * f;
  }
}

}  // namespace

void recurrent_cell(const RecurrentCellForward& step) {
  const int64_t h = step.hidden.dim(1);
  for (int64_t k = 0; k < step.rows.dim(0); ++k) {
    const Inputs in = inputs_of(step, k);
    double* saved = row_of<double>(step.saved, k);
    double* output = row_of<double>(step.output, step.rows.data<int32_t>()[k]);
    for (int64_t c = 0; c < h; ++c) {
      if (step.kind == CellKind::kGru) {
        output[c] = gru_unit(in, c, h, saved);
      } else {
        const double cell = lstm_unit(in, c, h, row_of<double>(step.cell, k)[c], saved);
        row_of<double>(step.next_cell, k)[c] = cell;
        output[c] = saved[3 * h + c] * std::tanh(cell);
      }
      if (k < step.next_hidden.dim(0)) {
        row_of<double>(step.next_hidden, k)[c] = output[c];
      }
    }
  }
}

void recurrent_cell_backward(const RecurrentCellBackward& step) {
  for (int64_t k = 0; k < step.rows.dim(0); ++k) {
    step.kind == CellKind::kGru ? gru_backward(step, k) : lstm_backward(step, k);
  }
}

}  // namespace dragoman::kernels::reference
