#include "models/decoder/running_state.h"

#include <numeric>
#include <ranges>

#include "ops/scan.h"
#include "tensor/transfer.h"

namespace dragoman::models {

using autograd::Variable;
using tensor::Tensor;

Variable KeptRunningMean::scan(const Variable& x, const Variable& keep) {
  const int64_t column = static_cast<int64_t>(layer_) * state_.width_;
  const Tensor initial = state_.before_.columns(column, column + state_.width_);  // [B, D]
  const Variable means = ops::scan(x, keep, state_.rows_.offsets, initial);       // [N, D]
  // A step has one row for each hypothesis; a prefill has one hypothesis, and may have no rows.
  const int64_t rows = means.dim(0), kept = initial.dim(0);
  state_.after_.columns(column, column + state_.width_)
      .copy_from(rows >= kept ? means.value().rows(rows - kept, rows) : initial);
  return means;
}

Tensor KeptRunningMean::positions() const {
  return state_.positions();
}

RunningState::RunningState(RunningStateShape shape)
    : width_(shape.width),
      slots_("decoder state", static_cast<int64_t>(shape.cross_attention.size()) * shape.width),
      sources_(shape.cross_attention, shape.dtype) {
  for (size_t layer = 0; layer < shape.cross_attention.size(); ++layer) {
    means_.emplace_back(*this, layer);
  }
}

std::vector<int32_t> RunningState::add(const Variable& memory, std::span<const int32_t> offsets) {
  const std::vector<int32_t> added =
      slots_.add({}, Tensor::zeros({static_cast<int64_t>(offsets.size()) - 1, slots_.width()}));
  try {
    sources_.add(memory, offsets, added);
  } catch (...) {  // the last first, so that the next slots are as if none had been taken
    for (const int32_t slot : std::views::reverse(added)) {
      remove(slot);
    }
    throw;
  }
  return added;
}

void RunningState::remove(int32_t slot) {
  slots_.remove(slot);
  sources_.remove(slot);
}

void RunningState::begin_step(std::span<const StepRow> rows) {
  before_ = slots_.parents_of(rows);
  std::vector<int32_t> offsets(rows.size() + 1), positions;
  std::iota(offsets.begin(), offsets.end(), 0);
  sources_.begin_rows();
  for (const StepRow& row : rows) {
    positions.push_back(static_cast<int32_t>(slots_.checked(row.slot).tokens));
    sources_.begin_row(row.slot);
  }
  begin(offsets, positions);
  slots_.keep(rows, after_, 1);
}

void RunningState::begin_prefill(int32_t slot, int64_t count) {
  before_ = slots_.beginning(slot).states;
  const std::vector<int32_t> offsets{0, static_cast<int32_t>(count)};
  std::vector<int32_t> positions(static_cast<size_t>(count));
  std::iota(positions.begin(), positions.end(), 0);
  sources_.begin_rows();
  for (int64_t row = 0; row < count; ++row) {
    sources_.begin_row(slot);
  }
  begin(offsets, positions);
  const StepRow only{slot, 0, 0};
  slots_.keep({&only, 1}, after_, count);
}

void RunningState::begin(std::span<const int32_t> offsets, std::span<const int32_t> positions) {
  rows_ = {tensor::host_tensor(offsets), tensor::host_tensor(positions)};
  after_ = Tensor::empty(before_.shape());
}

}  // namespace dragoman::models
