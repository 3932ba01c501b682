#include "base/error.h"
#include "models/recurrent/recurrent.h"
#include "tensor/transfer.h"

namespace dragoman::models {
namespace {

int64_t row_width(const RecurrentConfig& config) {
  const int64_t parts = config.cell == kernels::CellKind::kLstm ? 2 : 1;
  return config.layers * parts * config.d_hidden + (config.input_feeding ? config.d_model : 0);
}

}  // namespace

RecurrentGeneration::RecurrentGeneration(const Recurrent& model)
    : model_(model), width_(row_width(model.recurrent_config())) {}

RecurrentGeneration::Slot& RecurrentGeneration::checked_slot(int32_t slot) {
  const bool is_used =
      slot >= 0 && static_cast<size_t>(slot) < slots_.size() && slots_[static_cast<size_t>(slot)].in_use;
  base::check_argument(is_used, "recurrent generation: slot {} is not in use", slot);
  return slots_[static_cast<size_t>(slot)];
}

int32_t RecurrentGeneration::take_slot() {
  if (free_.empty()) {
    slots_.emplace_back();
    return static_cast<int32_t>(slots_.size()) - 1;
  }
  const int32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

void RecurrentGeneration::remove(int32_t slot) {
  checked_slot(slot) = {};
  free_.push_back(slot);
}

std::vector<int32_t> RecurrentGeneration::add(std::span<const std::span<const int32_t>> sources) {
  if (sources.empty()) {
    return {};
  }
  const autograd::NoGrad inference;
  FlatIds flat;
  for (const auto& source : sources) {
    flat.append(source);
    flat.end_sentence();
  }
  const TokenRows rows = make_token_rows(flat);
  const EncodedSource encoded = model_.encode(rows, {});
  const ops::SourceMemory memory = model_.memory(encoded.states, rows.rows.offsets);
  const Tensor states = packed(model_.first_state(encoded.summary), static_cast<int64_t>(sources.size()));
  std::vector<int32_t> slots;
  for (size_t b = 0; b < sources.size(); ++b) {
    slots.push_back(take_slot());
    const auto row = static_cast<int64_t>(b);
    slots_[static_cast<size_t>(slots.back())] = {true, false, memory.rows.empty() ? ops::SourceRows() : memory.rows[b],
                                                 states.rows(row, row + 1)};
  }
  return slots;
}

RecurrentDecoderState RecurrentGeneration::unpacked(const Tensor& states) const {
  const RecurrentConfig& config = model_.recurrent_config();
  int64_t column = 0;
  const auto take = [&](int64_t columns) {
    column += columns;
    return Variable(states.columns(column - columns, column));
  };
  RecurrentDecoderState state;
  for (int layer = 0; layer < config.layers; ++layer) {
    const Variable hidden = take(config.d_hidden);
    state.layers.push_back({hidden, config.cell == kernels::CellKind::kLstm ? take(config.d_hidden) : Variable()});
  }
  state.fed = config.input_feeding ? take(config.d_model) : Variable();
  return state;
}

Tensor RecurrentGeneration::packed(const RecurrentDecoderState& state, int64_t rows) const {
  Tensor states = Tensor::zeros({rows, width_});
  int64_t column = 0;
  const auto put = [&](const Variable& part) {
    if (part.defined()) {
      states.columns(column, column + part.dim(1)).copy_from(part.value());
      column += part.dim(1);
    }
  };
  for (const ops::RecurrentState& layer : state.layers) {
    put(layer.hidden);
    put(layer.cell);
  }
  put(state.fed);  // undefined before the first word: zeros
  return states;
}

// A row for each hypothesis: that of its parent.
Tensor RecurrentGeneration::parents_of(std::span<const StepRow> rows) {
  Tensor states = Tensor::empty({static_cast<int64_t>(rows.size()), width_});
  for (size_t r = 0; r < rows.size(); ++r) {
    const Slot& slot = checked_slot(rows[r].slot);
    base::check_argument(rows[r].parent >= 0 && rows[r].parent < slot.states.dim(0),
                         "recurrent generation: slot {} has {} hypotheses, parent is {}", rows[r].slot,
                         slot.states.dim(0), rows[r].parent);
    const auto row = static_cast<int64_t>(r);
    states.rows(row, row + 1).copy_from(slot.states.rows(rows[r].parent, rows[r].parent + 1));
  }
  return states;
}

// The rows of a slot stand together.
void RecurrentGeneration::keep(std::span<const StepRow> rows, const Tensor& states) {
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    while (end < rows.size() && rows[end].slot == rows[begin].slot) {
      ++end;
    }
    Slot& slot = checked_slot(rows[begin].slot);
    slot.has_begun = true;
    slot.states = states.rows(static_cast<int64_t>(begin), static_cast<int64_t>(end));
  }
}

Variable RecurrentGeneration::decode(const TokenRows& target, const ops::SourceMemory& memory, Tensor& states) {
  RecurrentDecoderEnd end;
  const Variable hidden = model_.decode(target, memory, unpacked(states), {}, &end);
  RecurrentDecoderState state;
  const auto part = [](const Tensor& values) { return values.defined() ? Variable(values) : Variable(); };
  for (const ops::LastState& layer : end.layers) {
    state.layers.push_back({part(layer.hidden), part(layer.cell)});
  }
  state.fed = part(end.fed);
  states = packed(state, states.dim(0));
  attention_ = end.attention;
  return hidden;
}

Variable RecurrentGeneration::step(std::span<const StepRow> rows) {
  const autograd::NoGrad inference;
  Tensor states = parents_of(rows);
  ops::SourceMemory memory = model_.empty_memory();
  FlatIds flat;
  for (const StepRow& row : rows) {
    flat.append({&row.token_id, 1});
    flat.end_sentence();
    if (const ops::SourceRows& source = slots_[static_cast<size_t>(row.slot)].source; source.keys.defined()) {
      memory.rows.push_back(source);
    }
  }
  const Variable hidden = decode(make_token_rows(flat), memory, states);  // [R, D]
  keep(rows, states);
  return hidden;
}

Variable RecurrentGeneration::prefill(int32_t slot, std::span<const int32_t> ids) {
  const autograd::NoGrad inference;
  const Slot& beginning = checked_slot(slot);
  base::check_argument(!beginning.has_begun, "recurrent generation: slot {} has begun; prefill comes first", slot);
  ops::SourceMemory memory = model_.empty_memory();
  if (beginning.source.keys.defined()) {
    memory.rows.push_back(beginning.source);
  }
  Tensor states = beginning.states.clone();
  const Variable hidden = decode(one_sentence(ids), memory, states);  // [T, D]
  const StepRow row{slot, 0, 0};
  keep({&row, 1}, states);
  return hidden;
}

}  // namespace dragoman::models
