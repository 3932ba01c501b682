#pragma once

#include <memory>
#include <span>
#include <vector>

#include "decoding/steps/sentence_steps.h"

namespace dragoman::decoding {

/// Several models as one, which gives a token the mean of their probabilities:
///   logits[i] = log((1 / M) sum_m p_m(i)), added in the order of the members
/// so that log-softmax of it is itself. Attention is the first member's. A step costs what the members' steps cost
/// together, and memory likewise.
class EnsembleSteps : public SentenceSteps {
 public:
  /// @param members  at least one, all with the same target vocabulary and with no sentence in them
  explicit EnsembleSteps(std::vector<std::unique_ptr<SentenceSteps>> members) : members_(std::move(members)) {}

  std::vector<int32_t> add(std::span<const std::span<const int32_t>> sentences) override;
  tensor::Tensor step(std::span<const StepRow> rows) override;
  void restrict(int32_t slot, std::span<const int32_t> ids) override;
  tensor::Tensor prefill(int32_t slot, std::span<const int32_t> ids) override;
  void want_attention(std::span<const int> layers) override { members_.front()->want_attention(layers); }
  tensor::Tensor attention(int layer) const override { return members_.front()->attention(layer); }
  void remove(int32_t slot) override;
  size_t slots_in_use() const override { return members_.front()->slots_in_use(); }

 private:
  std::vector<std::unique_ptr<SentenceSteps>> members_;
};

/// Writes log of the arithmetic mean of softmax over `members` into the first of them, [R, V] each.
void mean_probabilities(std::span<tensor::Tensor> members);

}  // namespace dragoman::decoding
