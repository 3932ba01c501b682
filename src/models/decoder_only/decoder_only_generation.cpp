#include <algorithm>
#include <ranges>

#include "base/error.h"
#include "models/decoder_only/decoder_only.h"
#include "tensor/transfer.h"

namespace dragoman::models {
namespace {

// Prompt tokens that are read at a time. More do not make the products faster.
constexpr size_t kTokensTogether = 512;
constexpr size_t kTokensOnDevice = 4096;  // where many rows keep the machine busy

DecoderStateShape state_shape(const DecoderOnly& model) {
  const nn::LayerConfig layer = model.decoder_config().layer_config();
  return {static_cast<size_t>(model.decoder_config().layers),
          layer.n_heads,
          layer.kv_heads(),
          layer.head_width(),
          layer.options.window,
          cache_dtype(model.parameters().packing()),
          {},
          &model.parameters()};
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
    std::vector<DecoderState::Prompt> unread;
    for (size_t i = 0; i < prompts.size(); ++i) {
      unread.push_back({slots[i], prompts[i].first(prompts[i].size() - 1)});
    }
    read(unread);
  } catch (...) {  // the slots are free again, the last first, so that the next are as if nothing had been added
    for (const int32_t slot : std::views::reverse(slots)) {
      remove(slot);
    }
    throw;
  }
  return slots;
}

// The beginnings of some prompts, as many together as make a pass.
void DecoderOnlyGeneration::read(std::span<const DecoderState::Prompt> prompts) {
  const autograd::NoGrad inference;
  std::vector<int32_t> ids;
  while (!prompts.empty()) {
    const bool on_host = tensor::Arena::current()->device().is_host();
    prompts = prompts.subspan(state_->begin_prompts(prompts, on_host ? kTokensTogether : kTokensOnDevice, ids));
    if (!ids.empty()) {
      static_cast<void>(decode(ids, PassKind::kPrefill, DecoderOnly::Wanted::kCache));
    }
  }
}

Variable DecoderOnlyGeneration::step(std::span<const StepRow> rows) {
  const autograd::NoGrad inference;
  state_->begin_step(rows);
  std::vector<int32_t> ids(rows.size());
  std::ranges::transform(rows, ids.begin(), &StepRow::token_id);
  return decode(ids, PassKind::kStep);  // [R, D]
}

Variable DecoderOnlyGeneration::prefill(int32_t slot, std::span<const int32_t> ids) {
  const autograd::NoGrad inference;
  state_->begin_prefill(slot, static_cast<int64_t>(ids.size()));
  return decode(ids, PassKind::kPrefill);  // [T, D]
}

// The rows that the state has begun, through the layers.
Variable DecoderOnlyGeneration::decode(std::span<const int32_t> ids, PassKind kind, DecoderOnly::Wanted wanted) {
  return state_->run(ids, kind,
                     [&](const TokenRows& rows) { return model_.decode(rows, state_, {}, wanted); });  // [R, D]
}

}  // namespace dragoman::models
