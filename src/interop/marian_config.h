#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/transformer/transformer_config.h"

namespace dragoman::interop {

/// What config.json of a MarianMT folder says about the model, checked.
struct MarianConfig {
  models::TransformerConfig model;  ///< vocabulary sizes as Marian counts them; tying is not set here
  bool scale_embedding = false;     ///< embeddings times sqrt(D)
  bool share_embeddings = true;     ///< one table for source and target
  bool tie_output = true;           ///< output weight = target table
  int32_t pad_id = 0;
  int32_t eos_id = 0;
  int32_t start_id = 0;  ///< what the decoder is fed first; the pad id in most models
};

/// Reads config.json of a MarianMT model. Keys that transformers itself does not look at are passed over.
/// Throws Error(kBadData) naming file, key and value: a missing key, a wrong type, a size out of range, and whatever
/// dragoman has no model for: "m/config.json: normalize_before is true, dragoman imports models with false only".
MarianConfig marian_config_from_json(std::string_view text, const std::string& file_name);

/// How a MarianMT model is searched by default.
struct MarianSearch {
  int beam_size = 1;            ///< num_beams
  double length_penalty = 1.0;  ///< scores are divided by length^length_penalty
};

/// Reads num_beams and length_penalty of generation_config.json, or of config.json, where older models have them.
/// Throws Error(kBadData) for other types than numbers.
MarianSearch marian_search_from_json(std::string_view text, const std::string& file_name);

/// Marian's name of an activation: "relu", "gelu", "swish".
std::string_view marian_name_of(kernels::Activation activation);

}  // namespace dragoman::interop
