#include "models/recurrent/recurrent.h"

#include <cmath>

#include "base/error.h"
#include "models/show_attention.h"
#include "ops/activation.h"
#include "ops/columns.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "tensor/transfer.h"

namespace dragoman::models {
namespace {

constexpr const char* kAttentionPath = "decoder.attention";
constexpr nn::LinearOptions kNoBias = {.has_bias = false};

const RecurrentConfig& checked(const RecurrentConfig& config) {
  config.check();
  return config;
}

nn::PositionConfig no_positions(const RecurrentConfig& config) {
  return {nn::PositionKind::kNone, config.max_positions};
}

// The first or the last row of each sentence.
Tensor ends_of(const Tensor& offsets, bool last) {
  const tensor::HostView<int32_t> all(offsets);
  std::vector<int32_t> rows;
  for (size_t b = 0; b + 1 < all.size(); ++b) {
    base::check_argument(all[b] < all[b + 1], "recurrent: sentence {} is empty; it has no state", b);
    rows.push_back(last ? all[b + 1] - 1 : all[b]);
  }
  return tensor::host_tensor(rows);
}

Variable tanh(const Variable& x) {
  return ops::activation(x, kernels::Activation::kTanh);
}

}  // namespace

Recurrent::Recurrent(const RecurrentConfig& config)
    : config_(checked(config)),
      tables_(declare_tied_tables(parameters_, config.tying, config.source_vocab_size, config.target_vocab_size,
                                  config.d_model)),
      source_embedding_(parameters_, "encoder.embedding", tables_.source, config.embedding(), no_positions(config),
                        config.source_word_dropout),
      target_embedding_(parameters_, "decoder.embedding", tables_.target, config.embedding(), no_positions(config),
                        config.target_word_dropout) {
  declare_layers(config);
  declare_attention(config);
  declare_readout(config);
}

void Recurrent::declare_layers(const RecurrentConfig& config) {
  const int64_t h = config.d_hidden, c = config.d_context();
  // Layers above the first read what the first gives: its states with the context, or the attentional vector.
  const int64_t first_output = config.input_feeding                                ? config.d_model
                               : config.attention == RecurrentAttention::kBahdanau ? h + c
                                                                                   : h;
  for (int index = 0; index < config.layers; ++index) {
    const std::string encoder = fmt::format("encoder.layers.{}", index);
    const std::string decoder = fmt::format("decoder.layers.{}", index);
    const int64_t encoder_input = index == 0 ? config.d_model : c;
    const int64_t decoder_input = index == 0 ? config.d_model : index == 1 ? first_output : h;
    encoder_layers_.push_back({nn::RecurrentLayer(parameters_, encoder + ".forward", config.cell, encoder_input, h),
                               nn::RecurrentLayer(parameters_, encoder + ".backward", config.cell, encoder_input, h)});
    decoder_layers_.push_back({nn::RecurrentLayer(parameters_, decoder, config.cell, decoder_input, h),
                               nn::Linear(parameters_, decoder + ".initial_hidden", c, h), std::nullopt});
    if (config.cell == kernels::CellKind::kLstm) {
      decoder_layers_.back().initial_cell.emplace(parameters_, decoder + ".initial_cell", c, h);
    }
  }
}

void Recurrent::declare_attention(const RecurrentConfig& config) {
  using nn::Initializer;
  const std::string path = kAttentionPath;
  const int64_t h = config.d_hidden, c = config.d_context(), a = config.d_key();
  if (config.attention == RecurrentAttention::kNone) {
    return;
  }
  key_.emplace(parameters_, path + ".key", c, a, kNoBias);
  if (config.attention == RecurrentAttention::kBahdanau) {
    query_ = parameters_.declare_weight(path + ".query.weight", {h, a}, Initializer::kXavierUniform);
    score_ = parameters_.declare(path + ".score", {a}, Initializer::kNormal);
    score_->deviation = 1.0F / std::sqrt(static_cast<float>(a));
  }
  if (config.feeds()) {
    const int64_t width = config.input_feeding ? config.d_model : c;
    fed_ = parameters_.declare_weight("decoder.fed.weight", {width, kernels::gates_of(config.cell) * h},
                                      Initializer::kXavierUniform);
  }
  if (config.input_feeding) {
    combine_ =
        parameters_.declare_weight(path + ".combine.weight", {c + h, config.d_model}, Initializer::kXavierUniform);
    combine_bias_ = parameters_.declare(path + ".combine.bias", {config.d_model}, Initializer::kZeros);
  }
}

void Recurrent::declare_readout(const RecurrentConfig& config) {
  const int64_t h = config.d_hidden, c = config.d_context(), d = config.d_model;
  const bool is_bahdanau = config.attention == RecurrentAttention::kBahdanau, is_deep = config.layers > 1;
  if (config.input_feeding && !is_deep) {
    return;  // the attentional vector is what is read out
  }
  from_top_.emplace(parameters_, "readout.top", is_bahdanau && !is_deep ? h + c : h, d);
  if (config.feeds() && is_deep) {
    from_first_.emplace(parameters_, "readout.first", config.input_feeding ? d : h + c, d, kNoBias);
  }
  if (config.attention == RecurrentAttention::kLuong && !config.input_feeding) {
    from_context_.emplace(parameters_, "readout.context", c, d, kNoBias);
  }
  if (is_bahdanau) {
    from_words_.emplace(parameters_, "readout.words", d, d, kNoBias);
  }
}

Variable Recurrent::between_layers(const Variable& x, size_t layer, const char* stack,
                                   const nn::ForwardContext& context) const {
  const std::string path = fmt::format("{}.layers.{}", stack, layer);
  context.show(path, "output", x.value());
  return ops::dropout(x, context.dropout(recurrent_config().dropout, nn::dropout_site(path)));
}

EncodedSource Recurrent::encode(const TokenRows& source, const nn::ForwardContext& outer) const {
  const nn::ForwardContext context = outer.over(source.rows);
  const Tensor& offsets = source.rows.offsets;
  Variable x = source_embedding_.forward(source.ids, source.rows, context);  // [Ns, D]
  Variable forward, backward;
  for (size_t index = 0; index < encoder_layers_.size(); ++index) {
    const EncoderLayer& layer = encoder_layers_[index];
    forward = layer.forward.forward(x, offsets, {}, context);                                    // [Ns, H]
    backward = layer.backward.forward(x, offsets, {}, context, ops::Direction::kBackward);       // [Ns, H]
    x = between_layers(ops::concatenate_columns(forward, backward), index, "encoder", context);  // [Ns, C]
  }
  const Variable summary =
      ops::concatenate_columns(ops::select_rows(forward, ends_of(offsets, /*last=*/true)),
                               ops::select_rows(backward, ends_of(offsets, /*last=*/false)));  // [B, C]
  context.show("encoder", "output", x.value());
  return {x, summary};
}

RecurrentDecoderState Recurrent::first_state(const Variable& summary, const nn::ForwardContext& context) const {
  RecurrentDecoderState state;
  for (size_t index = 0; index < decoder_layers_.size(); ++index) {
    const DecoderLayer& layer = decoder_layers_[index];
    const auto first = [&](const nn::Linear& map, const char* name) {
      const Variable sums = map.forward(summary);        // [B, H]
      const Variable result = ops::widened(tanh(sums));  // [B, H]
      if (context.keeps_values()) {
        const std::string path = fmt::format("decoder.layers.{}", index);
        context.show(path, "summary", summary.value());
        context.show(path, fmt::format("{}_sums", name), sums.value());
        context.show(path, name, result.value());
      }
      return result;
    };
    const Variable hidden = first(layer.initial_hidden, "first_state");
    state.layers.push_back({hidden, layer.initial_cell ? first(*layer.initial_cell, "first_cell") : Variable()});
  }
  return state;
}

ops::SourceMemory Recurrent::empty_memory() const {
  ops::SourceMemory memory;
  memory.kind = recurrent_config().attention == RecurrentAttention::kBahdanau ? ops::ScoreKind::kAdditive
                                                                              : ops::ScoreKind::kMultiplicative;
  return memory;
}

ops::SourceMemory Recurrent::memory(const Variable& states, const Tensor& offsets) const {
  return key_ ? ops::source_memory(empty_memory().kind, key_->forward(states), states, offsets) : empty_memory();
}

ops::AttentiveWeights Recurrent::attentive_weights() const {
  const auto variable_of = [](const nn::ParameterHandle& parameter) {
    return parameter == nullptr ? Variable() : parameter->variable;
  };
  const auto weight_of = [](const nn::ParameterHandle& parameter) {
    return parameter == nullptr ? ops::Weight(Variable()) : parameter->weight();
  };
  return {decoder_layers_.front().layer.weights(),
          weight_of(fed_),
          weight_of(query_),
          variable_of(score_),
          weight_of(combine_),
          variable_of(combine_bias_)};
}

Recurrent::FirstLayer Recurrent::first_layer(const Variable& words, const Tensor& offsets,
                                             const ops::SourceMemory& memory, const RecurrentDecoderState& state,
                                             const nn::ForwardContext& context, bool with_last) const {
  const nn::RecurrentLayer& layer = decoder_layers_.front().layer;
  const ops::RecurrentState& initial = state.layers.front();
  const Variable gates = layer.gates(words);  // [Nt, G * H]
  FirstLayer first;
  const ops::LayerExtras extras{.last = with_last ? &first.last : nullptr,
                                .attention = &first.attention,
                                .values = context.keeps_values() ? &first.values : nullptr};
  if (recurrent_config().input_feeding) {
    first.output = ops::input_feeding_layer(gates, offsets, attentive_weights(), memory, initial, state.fed,
                                            extras);  // [Nt, D]
  } else if (recurrent_config().feeds()) {
    first.output = ops::attentive_layer(gates, offsets, attentive_weights(), memory, initial,
                                        extras);  // [Nt, H + C]
  } else {
    first.output =
        ops::recurrent_layer(gates, offsets, layer.weights(), initial, ops::Direction::kForward, extras);  // [Nt, H]
  }
  if (context.keeps_values()) {
    layer.show(words, gates, first.values, context);
  }
  return first;
}

Variable Recurrent::readout(const Variable& top, const FirstLayer& first, const Variable& words, const Variable& found,
                            const nn::ForwardContext& context) const {
  Variable sum;  // [Nt, D]
  const auto add = [&](const std::optional<nn::Linear>& map, const char* name, const Variable& x) {
    if (map) {
      const Variable part = ops::widened(map->forward(x));  // [Nt, D]
      sum = sum.defined() ? ops::add(sum, part) : part;
      if (context.keeps_values()) {
        context.show("readout", name, x.value());
        context.show("readout", fmt::format("from_{}", name), part.value());
      }
    }
  };
  add(from_top_, "top", top);
  add(from_first_, "first", first.output);
  add(from_words_, "words", words);
  add(from_context_, "context", found);
  context.show("readout", "sum", sum.value());
  return tanh(sum);
}

void Recurrent::show_attention_values(const ops::LayerValues& values, const ops::SourceMemory& memory,
                                      const Variable& attended, const nn::ForwardContext& context) const {
  if (!context.keeps_values()) {
    return;
  }
  context.show(kAttentionPath, "query", values.query);
  context.show(kAttentionPath, "key", memory.keys.value());
  context.show(kAttentionPath, "value", memory.values.value());
  context.show(kAttentionPath, "context", values.context);
  if (recurrent_config().input_feeding) {
    const Variable both = ops::concatenate_columns(Variable(values.context), Variable(values.query));
    context.show(kAttentionPath, "joined", both.value());
    context.show(kAttentionPath, "sum", values.sums);
    context.show(kAttentionPath, "result", attended.value());
  }
}

Variable Recurrent::decode(const TokenRows& target, const ops::SourceMemory& memory, const RecurrentDecoderState& state,
                           const nn::ForwardContext& outer, RecurrentDecoderEnd* end) const {
  const nn::ForwardContext context = outer.over(target.rows);
  const Tensor& offsets = target.rows.offsets;
  const Variable words = target_embedding_.forward(target.ids, target.rows, context);  // [Nt, D]
  FirstLayer first = first_layer(words, offsets, memory, state, context, end != nullptr);
  std::vector<ops::LastState> last = {first.last};
  Variable top = first.output;
  for (size_t index = 1; index < decoder_layers_.size(); ++index) {
    const Variable x = between_layers(top, index - 1, "decoder", context);
    last.emplace_back();
    top = decoder_layers_[index].layer.forward(x, offsets, state.layers[index], context, ops::Direction::kForward,
                                               end == nullptr ? nullptr : &last.back());  // [Nt, H]
  }
  Variable found;  // [Nt, C]
  if (from_context_) {
    found = ops::source_attention(top, offsets, memory, {}, &first.attention);
    first.values.query = top.value();
    first.values.context = found.value();
  }
  const Variable hidden = from_top_ ? readout(top, first, words, found, context) : top;  // [Nt, D]
  if (first.attention.defined()) {
    show_attention(kAttentionPath, first.attention, offsets, memory, context);
    show_attention_values(first.values, memory, first.output, context);
  }
  context.show("decoder", "output", hidden.value());
  if (end != nullptr) {
    *end = {std::move(last), Tensor(), first.attention};
    if (recurrent_config().input_feeding) {
      end->fed = ops::select_rows(first.output, ends_of(offsets, /*last=*/true)).value();
    }
  }
  return ops::dropout(hidden, context.dropout(recurrent_config().dropout, nn::dropout_site("readout")));
}

Variable Recurrent::forward(const ModelInput& input, const nn::ForwardContext& context) const {
  const EncodedSource source = encode(input.source, context);
  return decode(input.target, memory(source.states, input.source.rows.offsets), first_state(source.summary, context),
                context);  // [Nt, D]
}

std::unique_ptr<Generation> Recurrent::begin_generation() const {
  return std::make_unique<RecurrentGeneration>(*this);
}

std::vector<std::string> Recurrent::cross_attention_paths() const {
  return key_ ? std::vector<std::string>{kAttentionPath} : std::vector<std::string>();
}

double Recurrent::forward_flops(int64_t source_length, int64_t target_length) const {
  const RecurrentConfig& config = recurrent_config();
  const auto s = static_cast<double>(source_length), t = static_cast<double>(target_length);
  double sum = key_ ? 2 * static_cast<double>(config.d_key() + config.d_context()) * s * t : 0.0;  // scores, contexts
  const std::string keys = fmt::format("{}.key.weight", kAttentionPath);
  for (const nn::ParameterHandle& parameter : parameters_.parameters()) {
    const std::string& path = parameter->path;
    const bool is_of_source = path.starts_with("encoder.layers.") || path == keys;
    const bool is_of_first_state = path.find(".initial_") != std::string::npos;
    if (parameter->is_matrix_weight) {
      sum += 2 * static_cast<double>(parameter->shape.size()) * (is_of_source ? s : is_of_first_state ? 1.0 : t);
    }
  }
  return sum;
}

}  // namespace dragoman::models
