#include "decoding/ensemble_steps.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "decoding/candidates.h"

namespace dragoman::decoding {
namespace {

// One row of every member; sums in double, so that a likely token keeps log p <= 0 within its rounding.
void mean_of_row(std::span<const std::span<float>> members, std::vector<double>& normalisers) {
  normalisers.clear();
  for (const std::span<float> row : members) {
    normalisers.push_back(log_normaliser(row));
  }
  for (size_t id = 0; id < members.front().size(); ++id) {
    double sum = 0.0;
    for (size_t m = 0; m < members.size(); ++m) {
      sum += std::exp(members[m][id] - normalisers[m]);
    }
    members.front()[id] = static_cast<float>(std::log(sum / static_cast<double>(members.size())));
  }
}

}  // namespace

void mean_probabilities(std::span<tensor::Tensor> members) {
  const auto n_rows = static_cast<size_t>(members.front().dim(0));
  const auto vocab_size = static_cast<size_t>(members.front().dim(1));
  std::vector<std::span<float>> rows(members.size());
  std::vector<double> normalisers;
  for (size_t r = 0; r < n_rows; ++r) {
    for (size_t m = 0; m < members.size(); ++m) {
      rows[m] = members[m].span<float>().subspan(r * vocab_size, vocab_size);
    }
    mean_of_row(rows, normalisers);
  }
}

std::vector<int32_t> EnsembleSteps::add(std::span<const std::span<const int32_t>> sentences) {
  const std::vector<int32_t> slots = members_.front()->add(sentences);
  for (const auto& member : std::span(members_).subspan(1)) {
    // The same calls give the same slots.
    base::check_argument(member->add(sentences) == slots, "ensemble: its members gave a sentence different slots");
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
