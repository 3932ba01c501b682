#include "decoding/steps/transformer_steps.h"

#include <algorithm>
#include <ranges>

namespace dragoman::decoding {
namespace {

std::vector<int32_t> slots_of(std::span<const StepRow> rows) {
  std::vector<int32_t> slots;
  for (const StepRow& row : rows) {
    slots.push_back(row.slot);
  }
  return slots;
}

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

}  // namespace

std::vector<int32_t> TransformerSteps::add(std::span<const std::span<const int32_t>> sentences) {
  std::vector<int32_t> slots;
  slots.reserve(sentences.size());
  try {
    while (!sentences.empty()) {
      const size_t count = encoded_together(sentences);
      const std::vector<int32_t> encoded = encode(sentences.first(count));
      slots.insert(slots.end(), encoded.begin(), encoded.end());
      sentences = sentences.subspan(count);
    }
  } catch (...) {  // the slots are free again, the last first, so that the next are as if nothing had been added
    for (const int32_t slot : std::views::reverse(slots)) {
      remove(slot);
    }
    throw;
  }
  return slots;
}

std::vector<int32_t> TransformerSteps::encode(std::span<const std::span<const int32_t>> sentences) {
  const autograd::NoGrad inference;
  std::vector<int32_t> ids;
  std::vector<int32_t> offsets = {0};
  for (const auto& sentence : sentences) {
    ids.insert(ids.end(), sentence.begin(), sentence.end());
    offsets.push_back(static_cast<int32_t>(ids.size()));
  }
  return state_->add(model_.encode(models::make_token_rows(ids, offsets), {}), offsets);
}

tensor::Tensor TransformerSteps::step(std::span<const StepRow> rows) {
  const autograd::NoGrad inference;
  const autograd::Variable hidden = decode_step(rows);  // [R, D]
  if (restricted_.empty()) {
    return model_.logits(hidden).value();  // [R, V]
  }
  restricted_.compute(hidden.value(), slots_of(rows));
  return restricted_.logits();  // [R, V]
}

void TransformerSteps::step_best(std::span<const StepRow> rows, int k, kernels::BestLogits& best) {
  const autograd::NoGrad inference;
  const autograd::Variable hidden = decode_step(rows);  // [R, D]
  if (restricted_.empty()) {
    return model_.best_logits(hidden, k, best);
  }
  restricted_.compute(hidden.value(), slots_of(rows));
  restricted_.best(k, best);
}

tensor::Tensor TransformerSteps::step_and_best(std::span<const StepRow> rows, int k, kernels::BestLogits& best) {
  if (restricted_.empty()) {
    return SentenceSteps::step_and_best(rows, k, best);
  }
  const autograd::NoGrad inference;
  restricted_.compute(decode_step(rows).value(), slots_of(rows));
  restricted_.best(k, best);
  return restricted_.logits();  // [R, V]
}

void TransformerSteps::remove(int32_t slot) {
  state_->remove(slot);
  restricted_.release(slot);
}

autograd::Variable TransformerSteps::decode_step(std::span<const StepRow> rows) {
  state_->begin_step(rows);
  tensor::Tensor ids = tensor::Tensor::empty({static_cast<int64_t>(rows.size())}, tensor::DType::kInt32);  // [R]
  auto* id = ids.data<int32_t>();
  for (const StepRow& row : rows) {
    *id++ = row.token_id;
  }
  return decode(ids);
}

tensor::Tensor TransformerSteps::prefill(int32_t slot, std::span<const int32_t> prefix) {
  const autograd::NoGrad inference;
  state_->begin_prefill(slot, static_cast<int64_t>(prefix.size()));
  tensor::Tensor ids = tensor::Tensor::empty({static_cast<int64_t>(prefix.size())}, tensor::DType::kInt32);  // [T]
  std::ranges::copy(prefix, ids.data<int32_t>());
  const autograd::Variable hidden = decode(ids);  // [T, D]
  if (restricted_.empty()) {
    return model_.logits(hidden).value();  // [T, V]
  }
  restricted_.compute(hidden.value(), std::vector<int32_t>(prefix.size(), slot));
  return restricted_.logits();  // [T, V]
}

autograd::Variable TransformerSteps::decode(const tensor::Tensor& ids) {
  const models::TokenRows target{ids, {{}, state_->positions(), 0}};
  return model_.decode(target, state_, {});  // [R, D]
}

}  // namespace dragoman::decoding
