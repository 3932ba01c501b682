#include "models/encoder_only/encoder_only.h"

#include "autograd/recompute.h"
#include "base/error.h"
#include "nn/layer_flops.h"
#include "nn/rotation.h"
#include "ops/activation.h"
#include "ops/dropout.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/text_vectors.h"
#include "tensor/transfer.h"

namespace dragoman::models {
namespace {

const EncoderOnlyConfig& checked(const EncoderOnlyConfig& config) {
  config.check();
  return config;
}

nn::ParameterHandle with_deviation(nn::ParameterHandle parameter) {
  parameter->deviation = nn::kGpt2Deviation;
  return parameter;
}

nn::ParameterHandle declare_rows(nn::ParameterSet& parameters, const std::string& path, int64_t rows, int64_t width) {
  return with_deviation(
      parameters.declare_weight(path, {rows, width}, nn::Initializer::kNormal, kernels::Transpose::kYes));
}

// The embedding's dropout stands behind its norm.
nn::LayerConfig without_dropout(nn::LayerConfig config) {
  config.dropout = 0.0F;
  return config;
}

// The next two are kept beside the rows, and with them what a device needs of them.

// The numbers of the first row of each text [B].
Tensor first_rows(const TokenRows& rows) {
  return *rows.rows.offsets.derived<Tensor>([&] {
    const tensor::HostView<int32_t> offsets(rows.rows.offsets);
    return std::make_shared<const Tensor>(tensor::host_tensor(offsets.span().first(offsets.size() - 1)));
  });
}

// 0 for every row [N].
Tensor first_segment(const TokenRows& rows) {
  return *rows.rows.positions.derived<Tensor>([&] {
    const std::vector<int32_t> zeros(static_cast<size_t>(rows.ids.dim(0)));
    return std::make_shared<const Tensor>(tensor::host_tensor(zeros));
  });
}

}  // namespace

EncoderOnly::EncoderOnly(const EncoderOnlyConfig& config)
    : config_(checked(config)),
      table_(declare_rows(parameters_, "embedding.weight", config.vocab_size, config.d_model)),
      embedding_(parameters_, "embedding", table_, without_dropout(config.layer_config()),
                 {config.positions, config.max_positions}) {
  const int64_t d = config.d_model;
  const nn::LayerConfig of_layer = nn::with_rotation(config.layer_config(), {config.positions, config.max_positions});
  if (config.segments > 0) {
    segments_ =
        with_deviation(parameters_.declare("embedding.segments", {config.segments, d}, nn::Initializer::kNormal));
  }
  if (config.embedding_norm) {
    embedding_norm_.emplace(parameters_, "embedding.norm", of_layer);
  }
  for (int index = 0; index < config.layers; ++index) {
    layers_.emplace_back(parameters_, fmt::format("layers.{}", index), of_layer);
  }
  if (config.norm_order == nn::NormOrder::kPre) {
    norm_.emplace(parameters_, "norm", of_layer);
  }
  if (config.pooler != Pooler::kNone) {
    pooler_.emplace(parameters_, "pooler", d, d, of_layer.inner_map());
  }
  if (config.head == EncoderHead::kWords) {
    transform_.emplace(parameters_, "transform", d, d, of_layer.inner_map());
    transform_norm_.emplace(parameters_, "transform.norm", of_layer);
    output_weight_ = table_;
    output_bias_ = parameters_.declare("output.bias", {config.vocab_size}, nn::Initializer::kZeros);
  } else if (config.head != EncoderHead::kNone) {
    output_weight_ = declare_rows(parameters_, "output.weight", config.n_labels, d);
    output_bias_ = parameters_.declare("output.bias", {config.n_labels}, nn::Initializer::kZeros);
  }
}

Variable EncoderOnly::with_dropout(const Variable& x, const char* site, const nn::ForwardContext& context) const {
  return ops::dropout(x, context.dropout(encoder_config().dropout, nn::dropout_site(site)));
}

Variable EncoderOnly::embed(const TokenRows& rows, const nn::ForwardContext& context) const {
  Variable x = embedding_.forward(rows.ids, rows.rows, context);  // [N, D]
  if (segments_ != nullptr) {
    const bool tells_apart = rows.segments.defined() && encoder_config().segments > 1;
    const Tensor segments = tells_apart ? rows.segments : first_segment(rows);  // [N]
    x = ops::add_positions(x, segments_->variable, segments);                   // [N, D]
    if (context.observer != nullptr) {
      context.show("embedding", "segments", ops::embedding(segments_->variable, segments, 1.0F).value());  // [N, D]
    }
  }
  x = embedding_norm_ ? embedding_norm_->forward(x) : x;  // [N, D]
  context.show("embedding", "result", x.value());
  return with_dropout(x, "embedding", context);  // [N, D]
}

Variable EncoderOnly::encode(const TokenRows& rows, const nn::ForwardContext& outer) const {
  const nn::ForwardContext context = outer.over(rows.rows);
  Variable x = embed(rows, context);  // [N, D]
  for (const nn::EncoderLayer& layer : layers_) {
    const auto forward = [&layer, x, rows = rows.rows, context] { return layer.forward(x, rows, context); };
    x = context.recompute == nn::Recompute::kLayers ? autograd::recompute("layer", forward) : forward();  // [N, D]
  }
  x = norm_ ? norm_->forward(x) : x;  // [N, D]
  context.show("encoder", "output", x.value());
  return x;
}

Variable EncoderOnly::pooled(const Variable& hidden, const TokenRows& rows) const {
  base::check_argument(pooler_.has_value(), "model: pooler is none");
  const Variable mapped = ops::widened(pooler_->forward(ops::select_rows(hidden, first_rows(rows))));  // [B, D]
  const bool is_tanh = encoder_config().pooler == Pooler::kTanh;
  return ops::activation(mapped, is_tanh ? kernels::Activation::kTanh : kernels::Activation::kRelu);  // [B, D]
}

Variable EncoderOnly::text_vectors(const Variable& hidden, const TokenRows& rows, Pooling pooling) const {
  switch (pooling) {
    case Pooling::kMean:
      return ops::mean_of_texts(hidden, rows.rows.offsets);  // [B, D]
    case Pooling::kFirst:
      return ops::select_rows(hidden, first_rows(rows));  // [B, D]
    case Pooling::kPooler:
      return pooled(hidden, rows);  // [B, D]
  }
  return hidden;
}

Variable EncoderOnly::forward(const ModelInput& input, const nn::ForwardContext& context) const {
  const EncoderOnlyConfig& config = encoder_config();
  const TokenRows& rows = input.source;
  const Variable hidden = encode(rows, context);  // [N, D]
  if (config.head == EncoderHead::kNone) {
    return text_vectors(hidden, rows, config.pooling);  // [B, D]
  }
  if (config.head == EncoderHead::kClasses) {
    nn::ForwardContext of_texts = context;
    of_texts.first_row = rows.first_text;
    return with_dropout(text_vectors(hidden, rows, config.class_pooling), "output", of_texts);  // [B, D]
  }
  const bool is_tags = config.head == EncoderHead::kTags;
  const Variable all = is_tags ? with_dropout(hidden, "output", context.over(rows.rows)) : hidden;  // [N, D]
  const Variable chosen = rows.chosen.defined() ? ops::select_rows(all, rows.chosen) : all;         // [K, D]
  return is_tags ? chosen
                 : transform_norm_->forward(ops::widened(transform_->forward(chosen, config.activation)));  // [K, D]
}

OutputLayer EncoderOnly::output() const {
  base::check_usage(output_weight_ != nullptr, "model: head is none, so it has no output layer; use embed");
  return {output_weight_->weight(), output_bias_->variable};
}

double EncoderOnly::forward_flops(int64_t source_length, int64_t /*target_length*/) const {
  const EncoderOnlyConfig& config = encoder_config();
  const nn::LayerFlops layer = nn::flops_of(config.layer_config());
  const auto d = static_cast<double>(config.d_model), s = static_cast<double>(source_length);
  const double layers = config.layers * ((layer.maps + layer.feed_forward) * s + layer.pair * s * s);
  switch (config.head) {
    case EncoderHead::kNone:
      return layers;
    case EncoderHead::kWords:
      return layers + (2 * d * d + 2 * d * static_cast<double>(config.vocab_size)) * s;
    case EncoderHead::kClasses:
      return layers + 2 * d * d + 2 * d * static_cast<double>(config.n_labels);
    case EncoderHead::kTags:
      return layers + 2 * d * static_cast<double>(config.n_labels) * s;
  }
  return layers;
}

}  // namespace dragoman::models
