#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/transformer/transformer_config.h"

namespace dragoman::interop {

/// Files of a MarianMT folder.
inline constexpr const char* kMarianConfigName = "config.json";
inline constexpr const char* kMarianGenerationName = "generation_config.json";  // not in every one

/// The checked contents of config.json of a MarianMT folder.
struct MarianConfig {
  models::TransformerConfig model;  ///< with Marian's vocabulary sizes; `tying` is not set
  bool scale_embedding = false;     ///< embeddings are multiplied by sqrt(D)
  bool share_embeddings = true;     ///< one table for source and target
  bool tie_output = true;           ///< output weight = target table
  int32_t pad_id = 0;
  int32_t eos_id = 0;
  int32_t start_id = 0;  ///< first input of the decoder; the pad id in most models
};

/// Reads config.json of a MarianMT model. Keys that transformers ignores are ignored.
/// Throws: Error(kBadData) with file, key and value, for a missing key, a wrong type, a size out of range, or a model
///         that dragoman does not support: "m/config.json: normalize_before is true, dragoman imports models with false
///         only".
[[nodiscard]] MarianConfig marian_config_from_json(std::string_view text, const std::string& file_name);

/// The default search options of a MarianMT model.
struct MarianSearch {
  int beam_size = 1;            ///< num_beams
  double length_penalty = 1.0;  ///< scores are divided by length^length_penalty
};

/// Reads num_beams and length_penalty from generation_config.json, or from config.json for older models.
/// Throws: Error(kBadData) for a value that is no number.
[[nodiscard]] MarianSearch marian_search_from_json(std::string_view text, const std::string& file_name);

/// Returns whether Marian has an activation.
[[nodiscard]] bool marian_has(kernels::Activation activation);
/// Returns Marian's name of an activation: "relu", "gelu", "swish".
[[nodiscard]] std::string_view marian_name_of(kernels::Activation activation);

}  // namespace dragoman::interop
