#include "decoding/steps/model_steps.h"

#include "base/error.h"

namespace dragoman::decoding {
namespace {

std::vector<int32_t> slots_of(std::span<const StepRow> rows) {
  std::vector<int32_t> slots;
  for (const StepRow& row : rows) {
    slots.push_back(row.slot);
  }
  return slots;
}

}  // namespace

ModelSteps::ModelSteps(const models::Model& model)
    : model_(model), generation_(model.begin_generation()), restricted_(model) {
  base::check_usage(generation_ != nullptr, "search: a model of architecture {} does not generate text",
                    model.config().architecture());
}

tensor::Tensor ModelSteps::step(std::span<const StepRow> rows) {
  const autograd::NoGrad inference;
  const autograd::Variable hidden = generation_->step(rows);  // [R, D]
  if (restricted_.empty()) {
    return model_.output().logits(hidden).value();  // [R, V]
  }
  restricted_.compute(hidden.value(), slots_of(rows));
  return restricted_.logits();  // [R, V]
}

void ModelSteps::step_best(std::span<const StepRow> rows, int k, kernels::BestLogits& best) {
  const autograd::NoGrad inference;
  const autograd::Variable hidden = generation_->step(rows);  // [R, D]
  if (restricted_.empty()) {
    return model_.output().best(hidden, k, best);
  }
  restricted_.compute(hidden.value(), slots_of(rows));
  restricted_.best(k, best);
}

tensor::Tensor ModelSteps::step_and_best(std::span<const StepRow> rows, int k, kernels::BestLogits& best) {
  if (restricted_.empty()) {
    return SentenceSteps::step_and_best(rows, k, best);
  }
  const autograd::NoGrad inference;
  restricted_.compute(generation_->step(rows).value(), slots_of(rows));
  restricted_.best(k, best);
  return restricted_.logits();  // [R, V]
}

void ModelSteps::remove(int32_t slot) {
  generation_->remove(slot);
  restricted_.release(slot);
}

tensor::Tensor ModelSteps::prefill(int32_t slot, std::span<const int32_t> prefix) {
  const autograd::NoGrad inference;
  const autograd::Variable hidden = generation_->prefill(slot, prefix);  // [T, D]
  if (restricted_.empty()) {
    return model_.output().logits(hidden).value();  // [T, V]
  }
  restricted_.compute(hidden.value(), std::vector<int32_t>(prefix.size(), slot));
  return restricted_.logits();  // [T, V]
}

}  // namespace dragoman::decoding
