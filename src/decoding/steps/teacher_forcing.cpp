#include "decoding/steps/teacher_forcing.h"

#include "data/vocabulary/vocabulary.h"
#include "models/model_device.h"
#include "tensor/device_scope.h"
#include "tensor/transfer.h"

namespace dragoman::decoding {

std::vector<int32_t> teacher_forced_input(std::span<const int32_t> predicted) {
  std::vector<int32_t> input = {data::kBosId};
  input.insert(input.end(), predicted.begin(), predicted.end() - 1);
  return input;
}

void observe_pair(const models::Model& model, std::span<const int32_t> source, std::span<const int32_t> input,
                  nn::ForwardObserver& observer) {
  nn::ForwardContext context;
  context.observer = &observer;
  const autograd::NoGrad inference;
  const tensor::DeviceScope device(models::device_of(model));
  const models::TokenRows read = source.empty() ? models::TokenRows() : models::one_sentence(source);
  model.forward({read, models::one_sentence(input)}, context);
}

std::vector<float> mean_of_heads(const tensor::Tensor& weights) {
  const int64_t n_heads = weights.dim(0);
  const auto cells = static_cast<size_t>(weights.dim(1) * weights.dim(2));
  const tensor::HostView<float> values(weights);
  std::vector<float> mean(cells);
  for (size_t i = 0; i < values.size(); ++i) {
    mean[i % cells] += values[i] / static_cast<float>(n_heads);
  }
  return mean;
}

}  // namespace dragoman::decoding
