#pragma once

#include <string>
#include <string_view>

#include "interop/hf_language_config.h"

namespace dragoman::interop {

/// Reads config.json of a GPT-2 model. Each key must be one that this program reads, one of a table of keys that do not
/// change the logits, or null.
/// Throws: Error(kBadData) with file, key and value, for a missing key, a wrong type, a size out of range, a key that
/// is
///         not known, "m/config.json: key "use_memory" is true; dragoman does not know it, ...", or a value that
///         dragoman does not support, "m/config.json: scale_attn_weights is false, dragoman imports models with true
///         only".
[[nodiscard]] HfLanguageConfig gpt2_config_from_json(std::string_view text, const std::string& file_name);

/// Reads config.json of a Llama, Mistral, Qwen2 or Qwen3 model, as gpt2_config_from_json. Rotary positions are read
/// from `rope_parameters`, or from `rope_theta` and `rope_scaling` as transformers 4 writes them.
[[nodiscard]] HfLanguageConfig llama_config_from_json(std::string_view text, const std::string& file_name);

/// Returns the ids of bos, pad and eos in generation_config.json. Other keys are ignored. Throws: Error(kBadData) for
/// an id that is no integer.
[[nodiscard]] HfTokenIds generation_ids_from_json(std::string_view text, const std::string& file_name);

}  // namespace dragoman::interop
