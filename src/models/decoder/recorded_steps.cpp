#include "models/decoder/recorded_steps.h"

#include "kernels/backends/backend_of.h"
#include "tensor/arena.h"

namespace dragoman::models {

using autograd::Variable;

Variable RecordedSteps::run(int64_t rows, const Version& version, const std::function<Variable()>& pass) {
  const auto found = steps_.find(rows);
  if (found == steps_.end() || found->second.version != version) {
    steps_[rows] = {version};
    return pass();
  }
  Step& step = found->second;
  if (step.replay) {
    ++replayed_;
    step.replay();
    return step.hidden;
  }
  if (step.memory != nullptr) {
    return pass();
  }
  step.memory = tensor::Arena::current()->another();
  const tensor::ArenaScope own(step.memory);
  const kernels::Backend& backend = kernels::backend_of(step.memory->device(), tensor::DType::kFloat32);
  step.replay = backend.record([&] { step.hidden = pass(); });
  return step.hidden;
}

}  // namespace dragoman::models
