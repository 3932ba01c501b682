#pragma once

#include <memory>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "kernels/backends/backend_of.h"
#include "models/architectures/architectures.h"
#include "ops/linear_cross_entropy.h"
#include "tensor/transfer.h"

namespace dragoman::test_support {

/// Updates of a model on the current device, with random sentences and nothing of the trainer.
class ModelUpdates {
 public:
  ModelUpdates(const models::ModelConfig& config, kernels::Precision precision) : model_(models::make_model(config)) {
    nn::ParameterSet& parameters = model_->parameters();
    parameters.allocate();
    parameters.initialize(3);
    parameters.allocate_gradients();
    parameters.allocate_packing(precision);
    moment1_ = tensor::Tensor::zeros({parameters.flat_size()});
    moment2_ = tensor::Tensor::zeros({parameters.flat_size()});
  }

  /// @param lengths  of the sentences, the same on both sides; a model without an encoder has one side
  /// Returns: the loss of a token.
  double update(const std::vector<int32_t>& lengths) {
    ++step_;
    nn::ParameterSet& parameters = model_->parameters();
    parameters.clear_gradients();
    if (parameters.packing() != nullptr) {
      parameters.packing()->pack(0, 1);
    }
    kernels::TokenLosses losses = forward_backward(lengths);
    parameters.complete_gradients();
    const kernels::Backend& backend = kernels::backend_of(parameters.gradients());
    tensor::Tensor factors = tensor::Tensor::empty({2}, tensor::DType::kFloat64);
    backend.clip_factors(parameters.gradients(), 1.0, factors);
    backend.adam_update(parameters.mutable_values(), parameters.gradients(), moment1_, moment2_,
                        {.learning_rate = 1e-3, .step = step_, .clipping = &factors});
    kernels::settle(losses);
    return losses.nll / static_cast<double>(std::accumulate(lengths.begin(), lengths.end(), int64_t{0}));
  }

  const models::Model& model() const { return *model_; }
  std::vector<float> weights() const { return model_->parameters().values().to_vector<float>(); }

 private:
  using Ids = std::vector<int32_t>;

  kernels::TokenLosses forward_backward(const std::vector<int32_t>& lengths) {
    const models::ModelSizes sizes = model_->config().sizes();
    std::vector<int32_t> offsets{0};
    for (const int32_t length : lengths) {
      offsets.push_back(offsets.back() + length);
    }
    base::Random random(7, static_cast<uint64_t>(step_));
    const bool has_source = sizes.source_vocab_size > 0;
    const std::vector<int32_t> source = has_source ? ids(sizes.source_vocab_size, offsets.back(), random) : Ids();
    const std::vector<int32_t> target = ids(sizes.target_vocab_size, offsets.back(), random);
    nn::ForwardContext context;
    context.training = true;
    context.seed = 5;
    context.step = static_cast<uint32_t>(step_);
    const double scale = 1.0 / static_cast<double>(offsets.back());
    autograd::Tape tape;
    const autograd::TapeScope recording(&tape);
    const models::TokenRows source_rows = has_source ? models::make_token_rows(source, offsets) : models::TokenRows();
    const autograd::Variable hidden =
        model_->forward({source_rows, models::make_token_rows(target, offsets)}, context);  // [Nt, D]
    const models::OutputLayer output = model_->output();
    const ops::LossResult result =
        ops::linear_cross_entropy(hidden, output.weight, output.bias, tensor::host_tensor(target), {0.1F, scale});
    tape.backward(result.loss);
    return result;
  }

  static std::vector<int32_t> ids(int64_t vocab_size, int32_t count, base::Random& random) {
    std::vector<int32_t> ids(static_cast<size_t>(count));
    for (int32_t& id : ids) {
      id = 4 + static_cast<int32_t>(random.below(static_cast<uint64_t>(vocab_size - 4)));
    }
    return ids;
  }

  std::unique_ptr<models::Model> model_;
  tensor::Tensor moment1_, moment2_;
  int64_t step_ = 0;
};

}  // namespace dragoman::test_support
