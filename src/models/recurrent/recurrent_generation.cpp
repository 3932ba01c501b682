#include "models/recurrent/recurrent.h"

namespace dragoman::models {
namespace {

int64_t row_width(const RecurrentConfig& config) {
  const int64_t parts = config.cell == kernels::CellKind::kLstm ? 2 : 1;
  return config.layers * parts * config.d_hidden + (config.input_feeding ? config.d_model : 0);
}

}  // namespace

RecurrentGeneration::RecurrentGeneration(const Recurrent& model)
    : model_(model), slots_("recurrent generation", row_width(model.recurrent_config())) {}

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
  return slots_.add(memory.rows, packed(model_.first_state(encoded.summary, {}), static_cast<int64_t>(sources.size())));
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
  Tensor states = Tensor::zeros({rows, slots_.width()});
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
  Tensor states = slots_.parents_of(rows);
  ops::SourceMemory memory = model_.empty_memory();
  FlatIds flat;
  for (const StepRow& row : rows) {
    flat.append({&row.token_id, 1});
    flat.end_sentence();
  }
  slots_.add_sources(rows, memory);
  const Variable hidden = decode(make_token_rows(flat), memory, states);  // [R, D]
  slots_.keep(rows, states, 1);
  return hidden;
}

Variable RecurrentGeneration::prefill(int32_t slot, std::span<const int32_t> ids) {
  const autograd::NoGrad inference;
  const StateSlots::Slot& beginning = slots_.beginning(slot);
  ops::SourceMemory memory = model_.empty_memory();
  if (beginning.source.keys.defined()) {
    memory.rows.push_back(beginning.source);
  }
  Tensor states = beginning.states.clone();
  const Variable hidden = decode(one_sentence(ids), memory, states);  // [T, D]
  const StepRow row{slot, 0, 0};
  slots_.keep({&row, 1}, states, static_cast<int64_t>(ids.size()));
  return hidden;
}

}  // namespace dragoman::models
