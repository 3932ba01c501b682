#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interop/hf_language_config.h"
#include "interop/model_source.h"
#include "tensor/safetensors.h"

namespace dragoman::interop {

/// One tensor of a model in both programs.
struct HfTensor {
  std::string ours;         ///< "layers.0.self_attention.query.weight"
  std::string theirs;       ///< "model.layers.0.self_attn.q_proj.weight"
  tensor::Shape shape;      ///< in dragoman: [Din, Dout], [V, D] or [Dout]
  bool transposed = false;  ///< theirs is [Dout, Din]
  bool is_ours = true;      ///< dragoman's model has it; a bias that it lacks is zero in an exported folder
  bool is_theirs = true;    ///< the folder has it; a bias that it lacks is zero in an imported model
  int64_t rows_before =
      0;  ///< theirs begins with so many rows that dragoman lacks; they are zero in an exported folder
  int64_t first_column = 0;                   ///< theirs holds several of ours side by side: the place of this one,
  int64_t all_columns = 0;                    ///< and the number of all columns; 0 if theirs holds this one only
  std::vector<std::string> other_names = {};  ///< of the same tensor in the folder
};

/// Returns the tensors of these pairs as dragoman's model has them, float32.
/// Throws: Error(kBadData) for a tensor that is missing or of another shape.
[[nodiscard]] tensor::NamedTensors import_pairs(TensorSource& source, const std::vector<HfTensor>& pairs);

/// Returns the tensors of these pairs as the folder has them.
/// Throws: Error(kBadData) if a bias that the layout lacks is not zero. @param file  of the weights, for errors
[[nodiscard]] tensor::NamedTensors export_pairs(const tensor::NamedTensors& ours, const std::vector<HfTensor>& pairs,
                                                const std::string& file);

/// Returns all tensors of a model. @param prefix  of all names but the output weight: "transformer." or none
/// @param biases  those that the folder has
[[nodiscard]] std::vector<HfTensor> hf_tensors(HfLayout layout, const models::DecoderOnlyConfig& config,
                                               const HfBiases& biases, const std::string& prefix);

/// Returns the tensors of a folder as dragoman's model has them, float32.
/// Throws: Error(kBadData) for a tensor that is missing, unknown or of another shape.
[[nodiscard]] tensor::NamedTensors import_hf_tensors(TensorSource& source, const HfLanguageConfig& config);

/// Returns the tensors of model.safetensors of a folder.
/// Requires: `ours` are the tensors of a model with `config`, without scale_embedding.
/// Throws: Error(kBadData) if a bias that the layout lacks is not zero. @param file  of the weights, for errors
[[nodiscard]] tensor::NamedTensors export_hf_tensors(const tensor::NamedTensors& ours, const HfLanguageConfig& config,
                                                     const std::string& file);

/// Returns a copy of a float32 tensor, each value times a factor.
[[nodiscard]] tensor::Tensor scaled(const tensor::Tensor& tensor, float factor);

}  // namespace dragoman::interop
