#include "models/decoder_only/decoder_only.h"

#include "autograd/recompute.h"
#include "base/error.h"
#include "nn/layer_flops.h"
#include "nn/rotation.h"

namespace dragoman::models {
namespace {

const DecoderOnlyConfig& checked(const DecoderOnlyConfig& config) {
  config.check();
  return config;
}

nn::ParameterHandle declare_table(nn::ParameterSet& parameters, const std::string& path,
                                  const DecoderOnlyConfig& config) {
  const bool as_gpt2 = config.layer.initial_weights == nn::InitialWeights::kGpt2;
  nn::ParameterHandle table = parameters.declare_weight(
      path, {config.vocab_size, config.d_model}, as_gpt2 ? nn::Initializer::kNormal : nn::Initializer::kNormalEmbedding,
      kernels::Transpose::kYes);
  table->deviation = nn::kGpt2Deviation;
  return table;
}

}  // namespace

DecoderOnly::DecoderOnly(const DecoderOnlyConfig& config)
    : config_(checked(config)),
      table_(declare_table(parameters_, "embedding.weight", config)),
      embedding_(parameters_, "embedding", table_, config.layer_config(), {config.positions, config.max_positions}) {
  const nn::LayerConfig of_layer = nn::with_rotation(config.layer_config(), {config.positions, config.max_positions});
  for (int index = 0; index < config.layers; ++index) {
    layers_.emplace_back(parameters_, fmt::format("layers.{}", index), of_layer);
  }
  if (config.norm_order == nn::NormOrder::kPre) {
    norm_.emplace(parameters_, "norm", of_layer);
  }
  output_weight_ = config.tied_output ? table_ : declare_table(parameters_, "output.weight", config);
}

Variable DecoderOnly::forward(const ModelInput& input, const nn::ForwardContext& context) const {
  return decode(input.target, nullptr, context);  // [Nt, D]
}

Variable DecoderOnly::decode(const TokenRows& rows, const std::shared_ptr<DecoderState>& state,
                             const nn::ForwardContext& context, Wanted wanted) const {
  Variable x = embedding_.forward(rows.ids, rows.rows, context);  // [N, D]
  const auto causal = std::make_shared<nn::RaggedKeyValues>(rows.rows, nn::Attend::kCausal);
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    if (wanted == Wanted::kCache && layer + 1 == layers_.size()) {
      state->keep(layer, layers_[layer].attention_input(x), layers_[layer].self_attention());
      return {};
    }
    const auto forward = [this, x, layer, state, causal, over = context.over(rows.rows)] {
      nn::KeyValueSource& keys = state == nullptr ? *causal : state->past(layer).key_values();
      return layers_[layer].forward(x, keys, over);
    };
    x = context.recompute == nn::Recompute::kLayers ? autograd::recompute("layer", forward) : forward();  // [N, D]
  }
  x = norm_ ? norm_->forward(x) : x;  // [N, D]
  context.show("decoder", "output", x.value());
  return x;
}

OutputLayer DecoderOnly::output() const {
  return {output_weight_->weight(), Variable()};
}

std::unique_ptr<Generation> DecoderOnly::begin_generation() const {
  return std::make_unique<DecoderOnlyGeneration>(*this);
}

double DecoderOnly::forward_flops(int64_t /*source_length*/, int64_t target_length) const {
  const DecoderOnlyConfig& config = decoder_config();
  const nn::LayerFlops layer = nn::flops_of(config.layer_config());
  const auto d = static_cast<double>(config.d_model), t = static_cast<double>(target_length);
  return config.layers * ((layer.maps + layer.feed_forward) * t + layer.pair * t * (t + 1) / 2) +
         2 * d * static_cast<double>(config.vocab_size) * t;
}

}  // namespace dragoman::models
