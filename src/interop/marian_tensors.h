#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/transformer/transformer_config.h"
#include "tensor/safetensors.h"

namespace dragoman::interop {

/// Sinusoidal positions of one frequency stand side by side in dragoman, as in the paper (PE(pos, 2i) is the sine, 2i +
/// 1 the cosine), and in halves in Marian (i is the sine, D/2 + i the cosine). Nothing else tells the components of the
/// residual stream apart, so a model stays the same model when they are permuted wherever a tensor reads or writes
/// them. Number of the component in Marian for each of ours: result[2i] = i, result[2i + 1] = D/2 + i.
/// @param d_model  even
std::vector<int64_t> marian_components(int64_t d_model);

/// The inverse: number of the component in dragoman for each of Marian's.
std::vector<int64_t> dragoman_components(int64_t d_model);

/// 0, 1, ... size - 1: nothing is permuted.
std::vector<int64_t> all_of(int64_t size);

/// One tensor of a layer in both programs. A matrix is [Din, Dout] here and [Dout, Din] in Marian.
struct TensorPair {
  std::string ours;           ///< "encoder.layers.0.self_attention.query.weight"
  std::string marians;        ///< "model.encoder.layers.0.self_attn.q_proj.weight"
  tensor::Shape shape;        ///< in dragoman: [Din, Dout] or [Dout]
  bool residual_in = false;   ///< rows are components of the residual stream
  bool residual_out = false;  ///< the last axis is
};

/// All tensors of the encoder's and decoder's layers, which is all but embeddings, output weight and output bias.
std::vector<TensorPair> layer_tensors(const models::TransformerConfig& config);

/// result[i, j] = matrix[rows[i], columns[j]], float32.
tensor::Tensor gathered(const tensor::Tensor& matrix, std::span<const int64_t> rows, std::span<const int64_t> columns);
/// result[i] = vector[elements[i]], float32.
tensor::Tensor gathered(const tensor::Tensor& vector, std::span<const int64_t> elements);
/// result[i, j] = matrix[j, i], float32.
tensor::Tensor transposed(const tensor::Tensor& matrix);

/// One tensor of a layer from Marian's layout to ours, and back. `components` is that of marian_components, for back
/// that of dragoman_components.
tensor::Tensor from_marian(const TensorPair& pair, const tensor::Tensor& marians, std::span<const int64_t> components);
tensor::Tensor to_marian(const TensorPair& pair, const tensor::Tensor& ours, std::span<const int64_t> components);

}  // namespace dragoman::interop
