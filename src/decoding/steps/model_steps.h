#pragma once

#include <memory>
#include <span>
#include <vector>

#include "decoding/steps/restricted_output.h"
#include "decoding/steps/sentence_steps.h"

namespace dragoman::decoding {

/// A model as searches see it: its generation, and its output layer, restricted where a sentence may use some tokens
/// only. Threads: one at a time. Several may share one model, which must outlive them.
class ModelSteps : public SentenceSteps {
 public:
  /// Requires: the architecture generates (models::Model::begin_generation).
  explicit ModelSteps(const models::Model& model);
  ModelSteps(const ModelSteps&) = delete;
  ModelSteps& operator=(const ModelSteps&) = delete;

  std::vector<int32_t> add(std::span<const std::span<const int32_t>> sentences) override {
    return generation_->add(sentences);
  }
  tensor::Tensor step(std::span<const StepRow> rows) override;
  void step_best(std::span<const StepRow> rows, int k, kernels::BestLogits& best) override;
  tensor::Tensor step_and_best(std::span<const StepRow> rows, int k, kernels::BestLogits& best) override;
  void restrict(int32_t slot, std::span<const int32_t> ids) override { restricted_.restrict(slot, ids); }
  tensor::Tensor prefill(int32_t slot, std::span<const int32_t> ids) override;
  void want_attention(std::span<const int> layers) override { generation_->want_attention(layers); }
  tensor::Tensor attention(int layer) const override { return generation_->attention(layer); }
  void remove(int32_t slot) override;
  size_t slots_in_use() const override { return generation_->slots_in_use(); }

  const models::Generation& generation() const { return *generation_; }
  const RestrictedOutput& restricted_output() const { return restricted_; }

 private:
  const models::Model& model_;
  std::unique_ptr<models::Generation> generation_;
  RestrictedOutput restricted_;
};

}  // namespace dragoman::decoding
