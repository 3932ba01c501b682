#include "models/convolutional/convolutional.h"

#include <cmath>
#include <numbers>

#include "models/show_attention.h"
#include "ops/columns.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "tensor/transfer.h"

namespace dragoman::models {
namespace {

// Gehring et al. 2017, section 4.2. Attention multiplies embeddings without a factor: with variance 1 it would begin at
// single words.
constexpr float kEmbeddingDeviation = 0.1F;
constexpr double kHalfRoot = std::numbers::sqrt2 / 2;  // keeps the variance of a sum of two rows

const ConvolutionalConfig& checked(const ConvolutionalConfig& config) {
  config.check();
  return config;
}

nn::PositionConfig learned_positions(const ConvolutionalConfig& config) {
  return {nn::PositionKind::kLearned, config.max_positions, kEmbeddingDeviation};
}

// Of the tables of words, so that embeddings have it.
float table_deviation(const ConvolutionalConfig& config) {
  return config.scale_embedding ? kEmbeddingDeviation / std::sqrt(static_cast<float>(config.d_model))
                                : kEmbeddingDeviation;
}

// Gehring et al. 2017, section 3.5: what keeps the variance of rows with `kept` of their numbers.
float deviation_of(double gain, float dropout, int64_t d_in) {
  return static_cast<float>(std::sqrt(gain * (1.0 - static_cast<double>(dropout)) / static_cast<double>(d_in)));
}

// Half of a gated linear unit is lost in the gate, so that its maps begin with four times the variance.
constexpr double kGated = 4.0, kPlain = 1.0;

Variable half_sum(const Variable& left, const Variable& right) {
  return ops::scale(ops::add(left, right), kHalfRoot);
}

// The root of the number of rows of its sentence, for each element of [N, D].
Variable root_of_lengths(const Tensor& offsets, const Variable& like) {
  const tensor::HostView<int32_t> ends(offsets);
  const auto width = static_cast<size_t>(like.dim(1));
  std::vector<double> roots;
  roots.reserve(static_cast<size_t>(like.dim(0)) * width);
  for (size_t b = 0; b + 1 < ends.size(); ++b) {
    const auto rows = static_cast<size_t>(ends[b + 1] - ends[b]);
    roots.insert(roots.end(), rows * width, std::sqrt(static_cast<double>(rows)));
  }
  const auto on_host = [&] {
    const tensor::HostScope scope;
    return Tensor::from(roots, like.shape()).to(like.dtype());
  };
  return Variable(tensor::to_current_device(on_host()));
}

Tensor last_rows_of(const Tensor& offsets) {
  const tensor::HostView<int32_t> ends(offsets);
  std::vector<int32_t> rows;
  for (size_t b = 0; b + 1 < ends.size(); ++b) {
    rows.push_back(ends[b + 1] - 1);
  }
  return tensor::host_tensor(rows);
}

std::string layer_path(const char* stack, size_t layer) {
  return fmt::format("{}.layers.{}", stack, layer);
}

}  // namespace

Convolutional::Convolutional(const ConvolutionalConfig& config)
    : config_(checked(config)),
      tables_(declare_tied_tables(parameters_, config.tying, config.source_vocab_size, config.target_vocab_size,
                                  config.d_model, table_deviation(config))),
      source_embedding_(parameters_, "encoder.embedding", tables_.source, config.embedding(), learned_positions(config),
                        config.source_word_dropout),
      target_embedding_(parameters_, "decoder.embedding", tables_.target, config.embedding(), learned_positions(config),
                        config.target_word_dropout) {
  declare_layers(config);
}

void Convolutional::declare_layers(const ConvolutionalConfig& config) {
  const int64_t d = config.d_model, h = config.d_hidden, k = config.kernel_width;
  const auto options_of = [&](float deviation) {
    return nn::LinearOptions{.deviation = deviation, .normed = config.weight_norm};
  };
  const auto map = [&](std::optional<nn::Linear>& linear, const std::string& path, int64_t d_in, int64_t d_out,
                       float dropout) {
    linear.emplace(parameters_, path, d_in, d_out, options_of(deviation_of(kPlain, dropout, d_in)));
  };
  const nn::LinearOptions gated = options_of(deviation_of(kGated, config.dropout, k * h));
  map(encoder_input_, "encoder.input", d, h, config.dropout);
  for (int index = 0; index < config.encoder_layers; ++index) {
    const nn::ConvolutionWindow around{(k - 1) / 2, k - 1 - (k - 1) / 2};
    encoder_layers_.emplace_back(parameters_, layer_path("encoder", static_cast<size_t>(index)), around, h, h, gated);
  }
  map(encoder_output_, "encoder.output", h, d, 0.0F);
  map(decoder_input_, "decoder.input", d, h, config.dropout);
  for (int index = 0; index < config.decoder_layers; ++index) {
    const std::string path = layer_path("decoder", static_cast<size_t>(index));
    const nn::LinearOptions query = options_of(deviation_of(kPlain, 0.0F, h));
    const nn::LinearOptions context = options_of(deviation_of(kPlain, 0.0F, d));
    decoder_layers_.push_back({nn::Convolution(parameters_, path, {k - 1, 0}, h, h, gated),
                               nn::Linear(parameters_, path + ".attention.query", h, d, query),
                               nn::Linear(parameters_, path + ".attention.context", d, h, context)});
  }
  map(decoder_output_, "decoder.output", h, d, 0.0F);
}

// What a convolution reads of the rows of its layer.
Variable Convolutional::read(const Variable& x, const std::string& path, const nn::ForwardContext& context) const {
  context.show(path, "input", x.value());
  return ops::dropout(x, context.dropout(convolutional_config().dropout, nn::dropout_site(path)));
}

ops::SourceMemory Convolutional::encode(const TokenRows& source, const nn::ForwardContext& outer) const {
  const nn::ForwardContext context = outer.over(source.rows);
  const Tensor& offsets = source.rows.offsets;
  const Variable words = source_embedding_.forward(source.ids, source.rows, context);  // [Ns, D]
  Variable x = ops::widened(encoder_input_->forward(words));                           // [Ns, H]
  for (size_t index = 0; index < encoder_layers_.size(); ++index) {
    const nn::Convolution& layer = encoder_layers_[index];
    const std::string path = layer_path("encoder", index);
    const Variable windows = layer.windows(read(x, path, context), offsets);  // [Ns, K*H]
    x = half_sum(ops::widened(layer.forward(windows, context)), x);           // [Ns, H]
    context.show(path, "result", x.value());
  }
  const Variable keys = ops::widened(encoder_output_->forward(x));  // [Ns, D]
  context.show("encoder", "output", keys.value());
  const Variable values = ops::multiply(half_sum(keys, words), root_of_lengths(offsets, keys));  // [Ns, D]
  return ops::source_memory(ops::ScoreKind::kMultiplicative, keys, values, offsets);
}

Variable Convolutional::attend(const DecoderLayer& layer, const std::string& path, const Variable& x,
                               const Attended& attended, const nn::ForwardContext& context, Tensor* attention) const {
  const std::string attention_path = path + ".attention";
  Tensor weights;
  const Variable projected = ops::widened(layer.query.forward(x));                                       // [Nt, D]
  const Variable query = half_sum(projected, attended.words);                                            // [Nt, D]
  const Variable found = ops::source_attention(query, attended.offsets, attended.memory, {}, &weights);  // [Nt, D]
  const Variable change = ops::widened(layer.context.forward(found));                                    // [Nt, H]
  show_attention(attention_path, weights, attended.offsets, attended.memory, context);
  if (context.keeps_values()) {
    context.show(path, "query_map", projected.value());
    context.show(path, "context_map", change.value());
    context.show(attention_path, "query", query.value());
    context.show(attention_path, "key", attended.memory.keys.value());
    context.show(attention_path, "value", attended.memory.values.value());
    context.show(attention_path, "context", found.value());
  }
  if (attention != nullptr) {
    *attention = weights;
  }
  return half_sum(x, change);  // [Nt, H]
}

Variable Convolutional::decode(const TokenRows& target, const ops::SourceMemory& memory, const Tensor& past,
                               const nn::ForwardContext& outer, ConvolutionalEnd* end) const {
  const nn::ForwardContext context = outer.over(target.rows);
  const Tensor& offsets = target.rows.offsets;
  const int64_t h = convolutional_config().d_hidden, width = convolutional_config().past_width();
  const auto layers = static_cast<int64_t>(decoder_layers_.size());
  const Attended attended{target_embedding_.forward(target.ids, target.rows, context), offsets, memory};
  if (end != nullptr) {
    end->past = Tensor::empty({offsets.dim(0) - 1, layers * width});
    end->attention.assign(decoder_layers_.size(), {});
  }
  Variable x = ops::widened(decoder_input_->forward(attended.words));  // [Nt, H]
  for (size_t index = 0; index < decoder_layers_.size(); ++index) {
    const DecoderLayer& layer = decoder_layers_[index];
    const std::string path = layer_path("decoder", index);
    const int64_t column = static_cast<int64_t>(index) * width;
    const Variable row = read(x, path, context);
    const Variable windows = past.defined()
                                 ? ops::concatenate_columns(Variable(past.columns(column, column + width)), row)
                                 : layer.convolution.windows(row, offsets);  // [Nt, K*H]
    if (end != nullptr) {
      const Tensor latest = ops::select_rows(windows, last_rows_of(offsets)).value();  // [B, K*H]
      end->past.columns(column, column + width).copy_from(latest.columns(h, h + width));
    }
    const Variable change = attend(layer, path, ops::widened(layer.convolution.forward(windows, context)), attended,
                                   context, end == nullptr ? nullptr : &end->attention[index]);
    x = half_sum(change, x);  // [Nt, H]
    context.show(path, "attended", change.value());
    context.show(path, "result", x.value());
  }
  const Variable hidden = ops::widened(decoder_output_->forward(x));  // [Nt, D]
  context.show("decoder", "output", hidden.value());
  return ops::dropout(hidden, context.dropout(convolutional_config().dropout, nn::dropout_site("decoder.output")));
}

Variable Convolutional::forward(const ModelInput& input, const nn::ForwardContext& context) const {
  return decode(input.target, encode(input.source, context), {}, context);  // [Nt, D]
}

std::unique_ptr<Generation> Convolutional::begin_generation() const {
  return std::make_unique<ConvolutionalGeneration>(*this);
}

std::vector<std::string> Convolutional::cross_attention_paths() const {
  std::vector<std::string> paths;
  for (size_t index = 0; index < decoder_layers_.size(); ++index) {
    paths.push_back(layer_path("decoder", index) + ".attention");
  }
  return paths;
}

double Convolutional::forward_flops(int64_t source_length, int64_t target_length) const {
  const ConvolutionalConfig& config = convolutional_config();
  const auto d = static_cast<double>(config.d_model), h = static_cast<double>(config.d_hidden);
  const auto s = static_cast<double>(source_length), t = static_cast<double>(target_length);
  const double ends = 4 * d * h, convolution = 4 * config.kernel_width * h * h;
  const double attention = 4 * d * h + 4 * d * s;
  return (ends + config.encoder_layers * convolution) * s + (ends + config.decoder_layers * (convolution + attention) +
                                                             2 * d * static_cast<double>(config.target_vocab_size)) *
                                                                t;
}

}  // namespace dragoman::models
