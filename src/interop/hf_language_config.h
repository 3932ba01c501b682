#pragma once

#include <cstdint>
#include <vector>

#include "models/decoder_only/decoder_only_config.h"

namespace dragoman::interop {

/// The layouts of decoder-only models of Hugging Face transformers, which are values of `model_type`.
enum class HfLayout { kGpt2, kLlama, kMistral, kQwen2, kQwen3 };

constexpr base::Names<HfLayout> names_of(HfLayout) {
  return {"model_type",
          {{HfLayout::kGpt2, "gpt2"},
           {HfLayout::kLlama, "llama"},
           {HfLayout::kMistral, "mistral"},
           {HfLayout::kQwen2, "qwen2"},
           {HfLayout::kQwen3, "qwen3"}}};
}

/// The affine maps and norms that have a bias in a folder.
struct HfBiases {
  bool attention_input = false;   ///< q_proj, k_proj, v_proj
  bool attention_output = false;  ///< o_proj
  bool feed_forward = false;
  bool norms = false;
};

/// Token ids as a configuration names them. -1 and an empty list stand for none.
struct HfTokenIds {
  int64_t bos = -1;
  int64_t pad = -1;
  std::vector<int64_t> eos = {};
};

/// The checked contents of config.json of a decoder-only model.
struct HfLanguageConfig {
  HfLayout layout = HfLayout::kGpt2;
  models::DecoderOnlyConfig model;
  HfBiases biases;
  HfTokenIds ids;
};

}  // namespace dragoman::interop
