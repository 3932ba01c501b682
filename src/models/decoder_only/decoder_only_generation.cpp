#include <algorithm>
#include <ranges>

#include "base/error.h"
#include "models/decoder_only/decoder_only.h"
#include "tensor/transfer.h"

namespace dragoman::models {
namespace {

// Prompt tokens that are read at a time. More do not make the products faster.
constexpr size_t kTokensTogether = 512;

DecoderStateShape state_shape(const DecoderOnly& model) {
  const nn::LayerConfig layer = model.decoder_config().layer_config();
  return {static_cast<size_t>(model.decoder_config().layers),
          layer.n_heads,
          layer.kv_heads(),
          layer.head_width(),
          layer.options.window,
          cache_dtype(model.parameters().packing())};
}

size_t to_read(std::span<const int32_t> prompt) {
  return prompt.size() - 1;
}

void check_prompts(std::span<const std::span<const int32_t>> prompts, int64_t context) {
  for (const auto& prompt : prompts) {
    base::check_usage(!prompt.empty(), "prompt: it has no tokens; give at least one");
    base::check_usage(static_cast<int64_t>(prompt.size()) < context,
                      "prompt: {} tokens, the model takes {}, the new ones counted; give a shorter prompt",
                      prompt.size(), context);
  }
}

}  // namespace

DecoderOnlyGeneration::DecoderOnlyGeneration(const DecoderOnly& model)
    : model_(model), state_(std::make_shared<DecoderState>(state_shape(model))) {}

std::vector<int32_t> DecoderOnlyGeneration::add(std::span<const std::span<const int32_t>> prompts) {
  check_prompts(prompts, model_.decoder_config().max_positions);
  const std::vector<int32_t> slots = state_->add(prompts.size());
  try {
    for (size_t begin = 0; begin < prompts.size();) {
      size_t end = begin, tokens = 0;
      while (end < prompts.size() && (end == begin || tokens + to_read(prompts[end]) <= kTokensTogether)) {
        tokens += to_read(prompts[end++]);
      }
      read(prompts.subspan(begin, end - begin), std::span(slots).subspan(begin, end - begin));
      begin = end;
    }
  } catch (...) {  // the slots are free again, the last first, so that the next are as if nothing had been added
    for (const int32_t slot : std::views::reverse(slots)) {
      remove(slot);
    }
    throw;
  }
  return slots;
}

// All tokens of some prompts but the last of each, in one pass.
void DecoderOnlyGeneration::read(std::span<const std::span<const int32_t>> prompts, std::span<const int32_t> slots) {
  std::vector<DecoderState::Beginning> beginnings;
  std::vector<int32_t> ids;
  for (size_t i = 0; i < prompts.size(); ++i) {
    if (const size_t count = to_read(prompts[i]); count > 0) {
      beginnings.push_back({slots[i], static_cast<int64_t>(count)});
      ids.insert(ids.end(), prompts[i].begin(), prompts[i].end() - 1);
    }
  }
  if (ids.empty()) {
    return;
  }
  const autograd::NoGrad inference;
  state_->begin_prefill(beginnings);
  static_cast<void>(decode(tensor::host_tensor(ids)));
}

Variable DecoderOnlyGeneration::step(std::span<const StepRow> rows) {
  const autograd::NoGrad inference;
  state_->begin_step(rows);
  std::vector<int32_t> ids(rows.size());
  std::ranges::transform(rows, ids.begin(), &StepRow::token_id);
  return decode(tensor::host_tensor(ids));  // [R, D]
}

Variable DecoderOnlyGeneration::prefill(int32_t slot, std::span<const int32_t> ids) {
  const autograd::NoGrad inference;
  const DecoderState::Beginning beginning{slot, static_cast<int64_t>(ids.size())};
  state_->begin_prefill({&beginning, 1});
  return decode(tensor::host_tensor(ids));  // [T, D]
}

// The rows that the state has begun, through the layers.
Variable DecoderOnlyGeneration::decode(const Tensor& ids) {
  return model_.decode({ids, {{}, state_->positions(), 0}}, state_, {});  // [R, D]
}

}  // namespace dragoman::models
