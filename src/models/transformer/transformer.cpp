#include "models/transformer/transformer.h"

#include <algorithm>
#include <cmath>

#include "autograd/recompute.h"
#include "base/error.h"
#include "nn/layer_flops.h"
#include "nn/relative_positions.h"
#include "nn/rotation.h"
#include "ops/elementwise.h"

namespace dragoman::models {
namespace {

// In training and scoring every layer sees the same rows.
class RaggedDecoderSources : public DecoderSources {
 public:
  RaggedDecoderSources(nn::DecoderSublayer sublayer, const nn::RaggedRows& target, const nn::RaggedRows& source,
                       const Variable& memory)
      : sublayer_(sublayer), keys_(target, nn::Attend::kCausal), mean_(target), cross_(target, source, memory) {}
  nn::PastSource past(size_t) override {
    return sublayer_ == nn::DecoderSublayer::kSelfAttention ? nn::PastSource(keys_) : nn::PastSource(mean_);
  }
  nn::KeyValueSource& cross_attention(size_t) override { return cross_; }

 private:
  nn::DecoderSublayer sublayer_;
  nn::RaggedKeyValues keys_;
  nn::RaggedRunningMean mean_;
  nn::RaggedKeyValues cross_;
};

std::string layer_path(const char* stack, int layer) {
  return fmt::format("{}.layers.{}", stack, layer);
}

// A layer's output; see nn::Recompute.
template <typename Layer>
Variable run_layer(const nn::ForwardContext& context, Layer layer) {
  return context.recompute == nn::Recompute::kLayers ? autograd::recompute("layer", layer) : layer();
}

// Behind an embedding with a norm, dropout follows the norm.
nn::LayerConfig of_embedding(nn::LayerConfig config, bool has_norm) {
  config.dropout = has_norm ? 0.0F : config.dropout;
  return config;
}

// Rotation and relative positions are of self-attention.
nn::LayerConfig decoder_with_positions(const TransformerConfig& config, nn::ParameterSet& parameters) {
  const nn::LayerConfig layer = config.decoder_layer();
  if (config.decoder_sublayer != nn::DecoderSublayer::kSelfAttention) {
    return layer;
  }
  return nn::with_relative_positions(nn::with_rotation(layer, {config.positions, config.max_positions}),
                                     config.positions, parameters, "decoder.relative_positions", /*both_sides=*/false);
}

const TransformerConfig& checked(const TransformerConfig& config) {
  config.check();
  return config;
}

}  // namespace

Transformer::Transformer(const TransformerConfig& config)
    : config_(checked(config)),
      tables_(declare_tied_tables(parameters_, config.tying, config.source_vocab_size, config.target_vocab_size,
                                  config.d_model)),
      output_bias_(config.output_bias
                       ? parameters_.declare("output.bias", {config.target_vocab_size}, nn::Initializer::kZeros)
                       : nullptr),
      source_embedding_(parameters_, "encoder.embedding", tables_.source,
                        of_embedding(config.encoder_layer(), config.embedding_norm),
                        {config.positions, config.max_positions}, config.source_word_dropout),
      target_embedding_(parameters_, "decoder.embedding", tables_.target,
                        of_embedding(config.decoder_layer(), config.embedding_norm),
                        {config.positions, config.max_positions}, config.target_word_dropout) {
  const nn::PositionConfig positions{config.positions, config.max_positions};
  if (config.layer.initial_weights == nn::InitialWeights::kT5 && config.scale_output) {
    for (const nn::ParameterHandle& table : {tables_.source, tables_.target, tables_.output}) {
      table->initializer = nn::Initializer::kNormal;
      table->deviation = 1.0F;
    }
  }
  const nn::LayerConfig encoder =
      nn::with_relative_positions(nn::with_rotation(config.encoder_layer(), positions), config.positions, parameters_,
                                  "encoder.relative_positions", /*both_sides=*/true);
  const nn::LayerConfig decoder = decoder_with_positions(config, parameters_);
  if (config.embedding_norm) {
    source_norm_ = std::make_unique<nn::Norm>(parameters_, "encoder.embedding.norm", encoder);
    target_norm_ = std::make_unique<nn::Norm>(parameters_, "decoder.embedding.norm", decoder);
  }
  for (int index = 0; index < config.encoder_layers; ++index) {
    encoder_layers_.emplace_back(parameters_, layer_path("encoder", index), encoder);
  }
  for (int index = 0; index < config.decoder_layers; ++index) {
    decoder_layers_.emplace_back(parameters_, layer_path("decoder", index), decoder);
  }
  if (config.norm_order == nn::NormOrder::kPre) {
    encoder_norm_ = std::make_unique<nn::Norm>(parameters_, "encoder.norm", encoder);
    decoder_norm_ = std::make_unique<nn::Norm>(parameters_, "decoder.norm", decoder);
  }
}

Variable Transformer::normalised(const Variable& x, const nn::Norm& norm, const char* stack,
                                 const nn::ForwardContext& context) const {
  const uint32_t site = nn::dropout_site(fmt::format("{}.embedding", stack));
  return ops::dropout(norm.forward(x, context), context.dropout(transformer_config().dropout, site));  // [N, D]
}

Variable Transformer::encode(const TokenRows& source, const nn::ForwardContext& context) const {
  Variable x = source_embedding_.forward(source.ids, source.rows, context);                   // [Ns, D]
  x = source_norm_ ? normalised(x, *source_norm_, "encoder", context.over(source.rows)) : x;  // [Ns, D]
  for (const nn::EncoderLayer& layer : encoder_layers_) {
    const auto forward = [x, rows = source.rows, &layer, context] { return layer.forward(x, rows, context); };
    x = run_layer(context, forward);  // [Ns, D]
  }
  x = encoder_norm_ ? encoder_norm_->forward(x, context) : x;  // [Ns, D]
  context.show("encoder", "output", x.value());
  return x;
}

Variable Transformer::decode(const TokenRows& target, const std::shared_ptr<DecoderSources>& sources,
                             const nn::ForwardContext& context) const {
  Variable x = target_embedding_.forward(target.ids, target.rows, context);                   // [Nt, D]
  x = target_norm_ ? normalised(x, *target_norm_, "decoder", context.over(target.rows)) : x;  // [Nt, D]
  for (size_t layer = 0; layer < decoder_layers_.size(); ++layer) {
    const auto forward = [this, x, layer, sources, context = context.over(target.rows)] {
      return decoder_layers_[layer].forward(x, sources->past(layer), sources->cross_attention(layer), context);
    };
    x = run_layer(context, forward);  // [Nt, D]
  }
  x = decoder_norm_ ? decoder_norm_->forward(x) : x;  // [Nt, D]
  const TransformerConfig& config = transformer_config();
  x = config.scale_output ? ops::scale(x, 1.0 / std::sqrt(static_cast<double>(config.d_model))) : x;  // [Nt, D]
  context.show("decoder", "output", x.value());
  return x;
}

Variable Transformer::forward(const ModelInput& input, const nn::ForwardContext& context) const {
  const auto& [source, target] = input;
  const Variable memory = encode(source, context);  // [Ns, D]
  return decode(
      target,
      std::make_shared<RaggedDecoderSources>(transformer_config().decoder_sublayer, target.rows, source.rows, memory),
      context);  // [Nt, D]
}

OutputLayer Transformer::output() const {
  return {tables_.output->weight(), output_bias_ == nullptr ? Variable() : output_bias_->variable};
}

std::unique_ptr<Generation> Transformer::begin_generation() const {
  return std::make_unique<TransformerGeneration>(*this);
}

double Transformer::forward_flops(int64_t source_length, int64_t target_length) const {
  return models::forward_flops(transformer_config(), source_length, target_length);
}

std::vector<std::string> Transformer::cross_attention_paths() const {
  std::vector<std::string> paths;
  for (const nn::DecoderLayer& layer : decoder_layers_) {
    paths.push_back(layer.cross_attention().path());
  }
  return paths;
}

namespace {

// Of t words in the sub-layer over the rows so far.
double past_flops(const TransformerConfig& config, const nn::LayerFlops& layer, double t) {
  const auto d = static_cast<double>(config.d_model);
  switch (config.decoder_sublayer) {
    case nn::DecoderSublayer::kSsru:
      return 4 * d * d * t;
    case nn::DecoderSublayer::kAverageAttention:
      return (layer.feed_forward + 8 * d * d) * t;
    default:
      return layer.maps * t + layer.pair * t * (t + 1) / 2;
  }
}

}  // namespace

double forward_flops(const TransformerConfig& config, int64_t source_length, int64_t target_length) {
  const auto d = static_cast<double>(config.d_model), s = static_cast<double>(source_length),
             t = static_cast<double>(target_length);
  nn::LayerConfig cross_layer = config.decoder_layer();
  cross_layer.options.n_kv_heads = 0;  // which is of self-attention
  const nn::LayerFlops encoder = nn::flops_of(config.encoder_layer()), decoder = nn::flops_of(config.decoder_layer()),
                       cross = nn::flops_of(cross_layer);
  const double of_source = config.encoder_layers * ((encoder.maps + encoder.feed_forward) * s + encoder.pair * s * s);
  // Half of the maps, keys and values, are of the source, the other half of the target.
  const double cross_attention = cross.maps / 2 * (s + t) + cross.pair * s * t;
  const double of_target =
      config.decoder_layers * (past_flops(config, decoder, t) + cross_attention + decoder.feed_forward * t);
  return of_source + of_target + 2 * d * static_cast<double>(config.target_vocab_size) * t;
}

}  // namespace dragoman::models
