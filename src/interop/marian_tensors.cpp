#include "interop/marian_tensors.h"

#include <fmt/format.h>

#include <numeric>

#include "tensor/transfer.h"

namespace dragoman::interop {
namespace {

using tensor::Tensor;

// A module of a layer: both names, its matrix [d_in, d_out], and which sides of the matrix are the residual stream.
struct Part {
  std::string ours;
  std::string marians;
  int64_t d_in;
  int64_t d_out;
  bool residual_in = false;
  bool residual_out = false;
};

void add_linear(const Part& part, std::vector<TensorPair>& pairs) {
  pairs.push_back({.ours = part.ours + ".weight",
                   .marians = part.marians + ".weight",
                   .shape = {part.d_in, part.d_out},
                   .residual_in = part.residual_in,
                   .residual_out = part.residual_out});
  pairs.push_back({.ours = part.ours + ".bias",
                   .marians = part.marians + ".bias",
                   .shape = {part.d_out},
                   .residual_out = part.residual_out});
}

void add_norm(const std::string& ours, const std::string& marians, int64_t d, std::vector<TensorPair>& pairs) {
  pairs.push_back({.ours = ours + ".norm.gain", .marians = marians + ".weight", .shape = {d}, .residual_out = true});
  pairs.push_back({.ours = ours + ".norm.bias", .marians = marians + ".bias", .shape = {d}, .residual_out = true});
}

// Queries, keys and values are components of heads. Both programs number them in one order.
void add_attention(const std::string& ours, const std::string& marians, int64_t d, std::vector<TensorPair>& pairs) {
  add_linear({.ours = ours + ".query", .marians = marians + ".q_proj", .d_in = d, .d_out = d, .residual_in = true},
             pairs);
  add_linear({.ours = ours + ".key", .marians = marians + ".k_proj", .d_in = d, .d_out = d, .residual_in = true},
             pairs);
  add_linear({.ours = ours + ".value", .marians = marians + ".v_proj", .d_in = d, .d_out = d, .residual_in = true},
             pairs);
  add_linear({.ours = ours + ".output", .marians = marians + ".out_proj", .d_in = d, .d_out = d, .residual_out = true},
             pairs);
  add_norm(ours, marians + "_layer_norm", d, pairs);
}

void add_feed_forward(const std::string& ours, const std::string& layer, const nn::LayerConfig& config,
                      std::vector<TensorPair>& pairs) {
  add_linear({.ours = ours + ".inner",
              .marians = layer + ".fc1",
              .d_in = config.d_model,
              .d_out = config.d_ff,
              .residual_in = true},
             pairs);
  add_linear({.ours = ours + ".outer",
              .marians = layer + ".fc2",
              .d_in = config.d_ff,
              .d_out = config.d_model,
              .residual_out = true},
             pairs);
  add_norm(ours, layer + ".final_layer_norm", config.d_model, pairs);
}

}  // namespace

std::vector<int64_t> marian_components(int64_t d_model) {
  std::vector<int64_t> components(static_cast<size_t>(d_model));
  for (int64_t i = 0; i < d_model; ++i) {
    components[static_cast<size_t>(i)] = i % 2 == 0 ? i / 2 : d_model / 2 + i / 2;
  }
  return components;
}

std::vector<int64_t> dragoman_components(int64_t d_model) {
  std::vector<int64_t> components(static_cast<size_t>(d_model));
  for (int64_t i = 0; i < d_model; ++i) {
    components[static_cast<size_t>(i)] = i < d_model / 2 ? 2 * i : 2 * (i - d_model / 2) + 1;
  }
  return components;
}

std::vector<int64_t> all_of(int64_t size) {
  std::vector<int64_t> all(static_cast<size_t>(size));
  std::iota(all.begin(), all.end(), int64_t{0});
  return all;
}

std::vector<TensorPair> layer_tensors(const models::TransformerConfig& config) {
  std::vector<TensorPair> pairs;
  for (int layer = 0; layer < config.encoder_layers; ++layer) {
    const std::string ours = fmt::format("encoder.layers.{}", layer), marians = "model." + ours;
    add_attention(ours + ".self_attention", marians + ".self_attn", config.d_model, pairs);
    add_feed_forward(ours + ".feed_forward", marians, config.encoder_layer(), pairs);
  }
  for (int layer = 0; layer < config.decoder_layers; ++layer) {
    const std::string ours = fmt::format("decoder.layers.{}", layer), marians = "model." + ours;
    add_attention(ours + ".self_attention", marians + ".self_attn", config.d_model, pairs);
    add_attention(ours + ".cross_attention", marians + ".encoder_attn", config.d_model, pairs);
    add_feed_forward(ours + ".feed_forward", marians, config.decoder_layer(), pairs);
  }
  return pairs;
}

Tensor gathered(const Tensor& matrix, std::span<const int64_t> rows, std::span<const int64_t> columns) {
  Tensor result = Tensor::empty({static_cast<int64_t>(rows.size()), static_cast<int64_t>(columns.size())});
  tensor::HostEdit<float> edit(result);
  const tensor::HostRows<float> from(matrix);
  auto to = edit.span().begin();
  for (const int64_t row : rows) {
    for (const int64_t column : columns) {
      *to++ = from[static_cast<size_t>(row)][static_cast<size_t>(column)];
    }
  }
  return result;
}

Tensor gathered(const Tensor& vector, std::span<const int64_t> elements) {
  Tensor result = Tensor::empty({static_cast<int64_t>(elements.size())});
  tensor::HostEdit<float> edit(result);
  const tensor::HostView<float> from(vector);
  auto to = edit.span().begin();
  for (const int64_t element : elements) {
    *to++ = from[static_cast<size_t>(element)];
  }
  return result;
}

Tensor transposed(const Tensor& matrix) {
  const int64_t rows = matrix.dim(1), columns = matrix.dim(0);
  Tensor result = Tensor::empty({rows, columns});
  tensor::HostEdit<float> edit(result);
  const tensor::HostRows<float> from(matrix);
  auto to = edit.span().begin();
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      *to++ = from[static_cast<size_t>(column)][static_cast<size_t>(row)];
    }
  }
  return result;
}

Tensor from_marian(const TensorPair& pair, const Tensor& marians, std::span<const int64_t> components) {
  if (pair.shape.rank() == 1) {
    return pair.residual_out ? gathered(marians, components) : marians;
  }
  const std::vector<int64_t> rows = all_of(pair.shape[0]), columns = all_of(pair.shape[1]);
  return gathered(transposed(marians), pair.residual_in ? components : rows, pair.residual_out ? components : columns);
}

Tensor to_marian(const TensorPair& pair, const Tensor& ours, std::span<const int64_t> components) {
  if (pair.shape.rank() == 1) {
    return pair.residual_out ? gathered(ours, components) : ours;
  }
  const std::vector<int64_t> rows = all_of(pair.shape[0]), columns = all_of(pair.shape[1]);
  return transposed(gathered(ours, pair.residual_in ? components : rows, pair.residual_out ? components : columns));
}

}  // namespace dragoman::interop
