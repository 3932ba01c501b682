#include "models/transformer/transformer.h"

#include <algorithm>
#include <ranges>

#include "tensor/transfer.h"

namespace dragoman::models {
namespace {

// Tokens that the encoder takes at a time. More do not make its products faster, but push each other's rows out of the
// cache and ask for fresh memory.
constexpr size_t kEncodedTokens = 512;

// How many of the first sentences have kEncodedTokens together, at least one.
size_t encoded_together(std::span<const std::span<const int32_t>> sentences) {
  size_t count = 0, tokens = 0;
  while (count < sentences.size() && (count == 0 || tokens + sentences[count].size() <= kEncodedTokens)) {
    tokens += sentences[count++].size();
  }
  return count;
}

// Keys and values are rounded where the products are: less memory to hold, and to read in every step.
tensor::DType cache_dtype(const nn::WeightPacking* packing) {
  switch (packing == nullptr ? kernels::Precision::kFloat32 : packing->precision()) {
    case kernels::Precision::kInt8:
      return tensor::DType::kInt8;
    case kernels::Precision::kBFloat16:
      return tensor::DType::kBFloat16;
    default:
      return tensor::DType::kFloat32;
  }
}

}  // namespace

TransformerGeneration::TransformerGeneration(const Transformer& model)
    : model_(model),
      state_(std::make_shared<DecoderState>(model.decoder_layers(), model.transformer_config().d_model,
                                            cache_dtype(model.parameters().packing()))) {}

std::vector<int32_t> TransformerGeneration::add(std::span<const std::span<const int32_t>> sources) {
  std::vector<int32_t> slots;
  slots.reserve(sources.size());
  try {
    while (!sources.empty()) {
      const size_t count = encoded_together(sources);
      const std::vector<int32_t> encoded = encode(sources.first(count));
      slots.insert(slots.end(), encoded.begin(), encoded.end());
      sources = sources.subspan(count);
    }
  } catch (...) {  // the slots are free again, the last first, so that the next are as if nothing had been added
    for (const int32_t slot : std::views::reverse(slots)) {
      remove(slot);
    }
    throw;
  }
  return slots;
}

std::vector<int32_t> TransformerGeneration::encode(std::span<const std::span<const int32_t>> sources) {
  const autograd::NoGrad inference;
  FlatIds flat;
  for (const auto& source : sources) {
    flat.append(source);
    flat.end_sentence();
  }
  return state_->add(model_.encode(make_token_rows(flat), {}), flat.offsets);
}

Variable TransformerGeneration::step(std::span<const StepRow> rows) {
  const autograd::NoGrad inference;
  state_->begin_step(rows);
  std::vector<int32_t> ids(rows.size());
  std::ranges::transform(rows, ids.begin(), &StepRow::token_id);
  return decode(tensor::host_tensor(ids));  // [R, D]
}

Variable TransformerGeneration::prefill(int32_t slot, std::span<const int32_t> prefix) {
  const autograd::NoGrad inference;
  state_->begin_prefill(slot, static_cast<int64_t>(prefix.size()));
  return decode(tensor::host_tensor(prefix));  // [T, D]
}

// The rows that the state has begun, through the decoder.
Variable TransformerGeneration::decode(const Tensor& ids) {
  return model_.decode({ids, {{}, state_->positions(), 0}}, state_, {});  // [R, D]
}

}  // namespace dragoman::models
