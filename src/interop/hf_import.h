#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "models/model_folder.h"

namespace dragoman::interop {

/// A decoder-only model of Hugging Face transformers as the files of a dragoman model folder.
struct ImportedLanguageModel {
  models::ModelFiles files;
  std::vector<std::string> notes;  ///< notes for the user, one line each
};

/// Reads the folder of a GPT-2 model. It opens config.json, model.safetensors or the files of
/// model.safetensors.index.json, tokenizer.json or vocab.json and merges.txt, and, if they exist,
/// generation_config.json, tokenizer_config.json, special_tokens_map.json and chat_template.jinja. The result computes
/// the same logits; docs/other_models.md has the mapping. float16 and bfloat16 become float32. Throws: Error(kBadData)
/// with the file, its value and what is supported, for
///         - a missing or damaged file, and files of different models;
///         - a model that dragoman cannot represent, or a key of config.json that it does not know;
///         - a tensor that is missing, unknown or of another shape.
[[nodiscard]] ImportedLanguageModel import_gpt2(const std::filesystem::path& folder);

/// Reads the folder of a Llama, Mistral, Qwen2 or Qwen3 model, as import_gpt2.
[[nodiscard]] ImportedLanguageModel import_llama(const std::filesystem::path& folder);

}  // namespace dragoman::interop
