#include "training/recorded_pass.h"

#include "kernels/backends/backend_of.h"
#include "kernels/step_on_device.h"
#include "tensor/arena.h"
#include "tensor/transfer.h"

namespace dragoman::training {

bool RecordedPass::Form::serves(const data::Batch& other, const UpdateContext& context) const {
  return data::have_one_form(shard, other) && update.seed == context.seed &&
         update.update_tokens == context.update_tokens && update.recompute == context.recompute;
}

Pass RecordedPass::run(const Objective& objective, nn::ParameterSet& parameters, const data::Batch& shard,
                       const UpdateContext& update, const Compute& compute) {
  const bool again = seen_ != nullptr && seen_->serves(shard, update);
  const bool was_recorded = recorded_ != nullptr && recorded_->serves(shard, update);
  if (!again && !was_recorded) {
    seen_ = nullptr;
    if (tensor::Arena::current()->counters().system_bytes <= kMostBytes) {
      seen_ = std::make_unique<Form>(Form{shard, update, objective.repeated(shard)});
    }
    // What the ops derive of ids and offsets is kept beside them, and so is there when the pass is recorded.
    return compute(seen_ == nullptr ? nullptr : seen_->pass.get(), nullptr);
  }
  Form& form = was_recorded ? *recorded_ : *seen_;
  if (form.pass == nullptr) {
    return compute(nullptr, nullptr);
  }
  if (!was_recorded) {
    recorded_ = std::move(seen_);
    form.step = tensor::Tensor::empty({1}, tensor::DType::kInt32);
  }
  parameters.round_values();  // outside of what is recorded, which would have it or not, as it happens
  form.pass->refill(shard);
  const auto step = static_cast<int32_t>(update.step);
  tensor::copy_from_host<int32_t>({&step, 1}, form.step);
  if (was_recorded) {
    ++replayed_;
    form.replay();
    for (const autograd::Variable& parameter : form.written) {
      static_cast<void>(parameter.grad_target());
    }
  } else {
    record(parameters, compute);
  }
  return form.result;
}

void RecordedPass::record(nn::ParameterSet& parameters, const Compute& compute) {
  Form& form = *recorded_;
  form.memory = tensor::Arena::current()->another();
  const kernels::Backend& backend = kernels::backend_of(form.memory->device(), tensor::DType::kFloat32);
  {
    const tensor::ArenaScope own(form.memory);
    const uint32_t* const step = kernels::step_on_device(form.step);
    form.replay = backend.record([&] { form.result = compute(form.pass.get(), step); });
  }
  if (!form.replay) {
    form.pass = nullptr;
  }
  for (const nn::ParameterHandle& parameter : parameters.parameters()) {
    if (parameter->variable.has_grad()) {
      form.written.push_back(parameter->variable);
    }
  }
  tensor::Arena::current()->give_back();
}

}  // namespace dragoman::training
