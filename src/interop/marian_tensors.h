#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/transformer/transformer_config.h"
#include "tensor/safetensors.h"

namespace dragoman::interop {

/// Returns the number of the component in Marian for each component of the residual stream in dragoman: result[2i] = i,
/// result[2i + 1] = D/2 + i.
///
/// The two programs order the sinusoidal positions differently. In dragoman, as in the paper, component 2i is a sine
/// and 2i + 1 the cosine of the same frequency. In Marian component i is the sine and D/2 + i the cosine. Nothing else
/// depends on the order of the components. So the model stays the same if every tensor that reads or writes them is
/// permuted.
/// Requires: `d_model` is even.
[[nodiscard]] std::vector<int64_t> marian_components(int64_t d_model);

/// Returns the inverse: the number of the component in dragoman for each component in Marian.
[[nodiscard]] std::vector<int64_t> dragoman_components(int64_t d_model);

/// Returns 0, 1, ... size - 1, the permutation that changes nothing.
[[nodiscard]] std::vector<int64_t> all_of(int64_t size);

/// One tensor of a layer in both programs. A matrix is [Din, Dout] in dragoman and [Dout, Din] in Marian.
struct TensorPair {
  std::string ours;           ///< "encoder.layers.0.self_attention.query.weight"
  std::string marians;        ///< "model.encoder.layers.0.self_attn.q_proj.weight"
  tensor::Shape shape;        ///< in dragoman: [Din, Dout] or [Dout]
  bool residual_in = false;   ///< the rows are components of the residual stream
  bool residual_out = false;  ///< the last axis is the components of the residual stream
};

/// Returns all tensors of the encoder and decoder layers. The model has no others but the embeddings, the output weight
/// and the output bias.
[[nodiscard]] std::vector<TensorPair> layer_tensors(const models::TransformerConfig& config);

/// Returns result[i, j] = matrix[rows[i], columns[j]], float32.
[[nodiscard]] tensor::Tensor gathered(const tensor::Tensor& matrix, std::span<const int64_t> rows,
                                      std::span<const int64_t> columns);
/// Returns result[i] = vector[elements[i]], float32.
[[nodiscard]] tensor::Tensor gathered(const tensor::Tensor& vector, std::span<const int64_t> elements);
/// Returns result[i, j] = matrix[j, i], float32.
[[nodiscard]] tensor::Tensor transposed(const tensor::Tensor& matrix);

/// Converts one tensor of a layer from Marian's layout to ours. @param components  of marian_components
[[nodiscard]] tensor::Tensor from_marian(const TensorPair& pair, const tensor::Tensor& marians,
                                         std::span<const int64_t> components);
/// Converts one tensor of a layer from our layout to Marian's. @param components  of dragoman_components
[[nodiscard]] tensor::Tensor to_marian(const TensorPair& pair, const tensor::Tensor& ours,
                                       std::span<const int64_t> components);

}  // namespace dragoman::interop
