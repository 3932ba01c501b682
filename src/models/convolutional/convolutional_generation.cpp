#include "models/convolutional/convolutional.h"
#include "tensor/transfer.h"

namespace dragoman::models {
namespace {

constexpr const char* kName = "convolutional generation";

ops::SourceMemory empty_memory() {
  ops::SourceMemory memory;
  memory.kind = ops::ScoreKind::kMultiplicative;
  return memory;
}

}  // namespace

ConvolutionalGeneration::ConvolutionalGeneration(const Convolutional& model)
    : model_(model),
      slots_(kName, model.convolutional_config().decoder_layers * model.convolutional_config().past_width()) {}

std::vector<int32_t> ConvolutionalGeneration::add(std::span<const std::span<const int32_t>> sources) {
  if (sources.empty()) {
    return {};
  }
  const autograd::NoGrad inference;
  FlatIds flat;
  for (const auto& source : sources) {
    flat.append(source);
    flat.end_sentence();
  }
  const ops::SourceMemory memory = model_.encode(make_token_rows(flat), {});
  return slots_.add(memory.rows, Tensor::zeros({static_cast<int64_t>(sources.size()), slots_.width()}));
}

Variable ConvolutionalGeneration::step(std::span<const StepRow> rows) {
  const autograd::NoGrad inference;
  const Tensor past = slots_.parents_of(rows);  // [R, layers * (K - 1) * H]
  ops::SourceMemory memory = empty_memory();
  slots_.add_sources(rows, memory);
  FlatIds flat;
  std::vector<int32_t> positions;
  for (const StepRow& row : rows) {
    flat.append({&row.token_id, 1});
    flat.end_sentence();
    positions.push_back(static_cast<int32_t>(slots_.checked(row.slot).tokens));
  }
  TokenRows target = make_token_rows(flat);
  target.rows.positions = tensor::host_tensor(positions);
  ConvolutionalEnd end;
  const Variable hidden = model_.decode(target, memory, past, {}, &end);  // [R, D]
  slots_.keep(rows, end.past, 1);
  attention_ = std::move(end.attention);
  return hidden;
}

Variable ConvolutionalGeneration::prefill(int32_t slot, std::span<const int32_t> ids) {
  const autograd::NoGrad inference;
  ops::SourceMemory memory = empty_memory();
  memory.rows.push_back(slots_.beginning(slot).source);
  ConvolutionalEnd end;
  const Variable hidden = model_.decode(one_sentence(ids), memory, {}, {}, &end);  // [T, D]
  const StepRow row{slot, 0, 0};
  slots_.keep({&row, 1}, end.past, static_cast<int64_t>(ids.size()));
  attention_ = std::move(end.attention);
  return hidden;
}

Tensor ConvolutionalGeneration::attention(int layer) const {
  if (!wants_attention_ || attention_.empty()) {
    return {};
  }
  return layer == kLastLayer ? attention_.back() : attention_.at(static_cast<size_t>(layer));
}

}  // namespace dragoman::models
