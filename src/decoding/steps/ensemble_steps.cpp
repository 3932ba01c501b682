#include "decoding/steps/ensemble_steps.h"

#include <ranges>

#include "base/error.h"
#include "decoding/search/candidates.h"
#include "kernels/cpu/simd/vector_math.h"
#include "tensor/transfer.h"

namespace dragoman::decoding {

void mean_probabilities(std::span<tensor::Tensor> members) {
  const auto n_rows = static_cast<size_t>(members.front().dim(0));
  const auto vocab_size = static_cast<size_t>(members.front().dim(1));
  const std::vector<tensor::HostView<float>> logits(members.begin(), members.end());
  tensor::HostEdit<float> mean(members.front());
  std::vector<std::span<const float>> rows(members.size());
  std::vector<double> normalisers(members.size());
  for (size_t r = 0; r < n_rows; ++r) {
    for (size_t m = 0; m < members.size(); ++m) {
      rows[m] = logits[m].span().subspan(r * vocab_size, vocab_size);
      normalisers[m] = log_normaliser(rows[m]);
    }
    kernels::log_mean_exp(rows, normalisers, mean.span().subspan(r * vocab_size, vocab_size));
  }
}

std::vector<int32_t> EnsembleSteps::add(std::span<const std::span<const int32_t>> sentences) {
  const std::vector<int32_t> slots = members_.front()->add(sentences);
  size_t n_added = 1;
  try {
    for (; n_added < members_.size(); ++n_added) {
      // The same calls give the same slots.
      base::check_argument(members_[n_added]->add(sentences) == slots,
                           "ensemble: its members gave a sentence different slots");
    }
  } catch (...) {
    for (size_t member = 0; member < n_added; ++member) {
      for (const int32_t slot : std::views::reverse(slots)) {
        members_[member]->remove(slot);
      }
    }
    throw;
  }
  return slots;
}

tensor::Tensor EnsembleSteps::step(std::span<const StepRow> rows) {
  std::vector<tensor::Tensor> logits;  // [R, V] each
  for (const auto& member : members_) {
    logits.push_back(member->step(rows));
  }
  mean_probabilities(logits);
  return logits.front();
}

tensor::Tensor EnsembleSteps::prefill(int32_t slot, std::span<const int32_t> ids) {
  std::vector<tensor::Tensor> logits;  // [T, V] each
  for (const auto& member : members_) {
    logits.push_back(member->prefill(slot, ids));
  }
  mean_probabilities(logits);
  return logits.front();
}

void EnsembleSteps::restrict(int32_t slot, std::span<const int32_t> ids) {
  for (const auto& member : members_) {
    member->restrict(slot, ids);
  }
}

void EnsembleSteps::remove(int32_t slot) {
  for (const auto& member : members_) {
    member->remove(slot);
  }
}

}  // namespace dragoman::decoding
