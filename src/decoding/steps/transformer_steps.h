#pragma once

#include <memory>
#include <span>
#include <vector>

#include "decoding/steps/decoder_state.h"
#include "decoding/steps/restricted_output.h"
#include "decoding/steps/sentence_steps.h"

namespace dragoman::decoding {

/// The Transformer as searches see it: encodes sentences into slots, then steps. The layers it runs are those that
/// training runs, with cached memories in place of packed ones; nothing is recorded on a tape.
/// One thread at a time; several may share one model. The model must outlive it.
class TransformerSteps : public SentenceSteps {
 public:
  explicit TransformerSteps(const models::Transformer& model)
      : model_(model), state_(std::make_shared<DecoderState>(model)), restricted_(model) {}
  TransformerSteps(const TransformerSteps&) = delete;
  TransformerSteps& operator=(const TransformerSteps&) = delete;

  std::vector<int32_t> add(std::span<const std::span<const int32_t>> sentences) override;
  tensor::Tensor step(std::span<const StepRow> rows) override;
  void step_best(std::span<const StepRow> rows, int k, kernels::BestLogits& best) override;
  tensor::Tensor step_and_best(std::span<const StepRow> rows, int k, kernels::BestLogits& best) override;
  void restrict(int32_t slot, std::span<const int32_t> ids) override { restricted_.restrict(slot, ids); }
  tensor::Tensor prefill(int32_t slot, std::span<const int32_t> ids) override;
  void want_attention(bool wanted) override { state_->want_attention(wanted); }
  tensor::Tensor attention() const override { return state_->attention(); }
  void remove(int32_t slot) override;
  size_t slots_in_use() const override { return state_->slots_in_use(); }

  const DecoderState& state() const { return *state_; }
  const RestrictedOutput& restricted_output() const { return restricted_; }

 private:
  std::vector<int32_t> encode(std::span<const std::span<const int32_t>> sentences);
  // The rows that the state has begun, through the decoder. @return hidden [R, D]
  autograd::Variable decode(const tensor::Tensor& ids);
  autograd::Variable decode_step(std::span<const StepRow> rows);

  const models::Transformer& model_;
  std::shared_ptr<DecoderState> state_;
  RestrictedOutput restricted_;
};

}  // namespace dragoman::decoding
