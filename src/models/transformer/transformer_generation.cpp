#include "models/transformer/transformer.h"

#include <algorithm>
#include <ranges>

#include "models/decoder/decoder_state.h"
#include "models/decoder/running_state.h"
#include "tensor/transfer.h"

namespace dragoman::models {
namespace {

// Tokens that the encoder takes at a time. More do not make its products faster, but push each other's rows out of the
// cache and ask for fresh memory.
constexpr size_t kEncodedTokens = 512;
constexpr size_t kEncodedOnDevice = 8192;  // where many rows keep the machine busy

// How many of the first sentences have kEncodedTokens together, at least one.
size_t encoded_together(std::span<const std::span<const int32_t>> sentences) {
  const size_t most = tensor::Arena::current()->device().is_host() ? kEncodedTokens : kEncodedOnDevice;
  size_t count = 0, tokens = 0;
  while (count < sentences.size() && (count == 0 || tokens + sentences[count].size() <= most)) {
    tokens += sentences[count++].size();
  }
  return count;
}

std::shared_ptr<DecoderMemory> make_memory(const Transformer& model) {
  const nn::LayerConfig decoder = model.transformer_config().decoder_layer();
  const tensor::DType dtype = cache_dtype(model.parameters().packing());
  std::vector<const nn::MultiHeadAttention*> cross_attention;
  for (const nn::DecoderLayer& layer : model.decoder_layers()) {
    cross_attention.push_back(&layer.cross_attention());
  }
  if (decoder.decoder_sublayer != nn::DecoderSublayer::kSelfAttention) {
    return std::make_shared<RunningState>(RunningStateShape{decoder.d_model, dtype, std::move(cross_attention)});
  }
  return std::make_shared<DecoderState>(
      DecoderStateShape{model.decoder_layers().size(), decoder.n_heads, decoder.kv_heads(), decoder.head_width(),
                        decoder.options.window, dtype, std::move(cross_attention), &model.parameters()});
}

}  // namespace

TransformerGeneration::TransformerGeneration(const Transformer& model) : model_(model), memory_(make_memory(model)) {}

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
  return memory_->add(model_.encode(make_token_rows(flat), {}), flat.offsets);
}

Variable TransformerGeneration::step(std::span<const StepRow> rows) {
  const autograd::NoGrad inference;
  memory_->begin_step(rows);
  std::vector<int32_t> ids(rows.size());
  std::ranges::transform(rows, ids.begin(), &StepRow::token_id);
  return decode(ids, PassKind::kStep);  // [R, D]
}

Variable TransformerGeneration::prefill(int32_t slot, std::span<const int32_t> prefix) {
  const autograd::NoGrad inference;
  memory_->begin_prefill(slot, static_cast<int64_t>(prefix.size()));
  return decode(prefix, PassKind::kPrefill);  // [T, D]
}

// The rows that the memory has begun, through the decoder.
Variable TransformerGeneration::decode(std::span<const int32_t> ids, PassKind kind) {
  return memory_->run(ids, kind, [this](const TokenRows& rows) { return model_.decode(rows, memory_, {}); });  // [R, D]
}

}  // namespace dragoman::models
