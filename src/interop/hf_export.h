#pragma once

#include <filesystem>

#include "interop/exported_model.h"
#include "models/decoder_only/decoder_only_config.h"
#include "models/model_folder.h"

namespace dragoman::interop {

/// A decoder-only model in a form that other programs have: embeddings are not scaled.
struct PlainLanguageModel {
  models::DecoderOnlyConfig config;
  tensor::NamedTensors tensors;
  std::string config_name;  ///< files, for errors
  std::string weights_name;
};

/// Reads the model of a folder and brings it to the plain form, in which it computes the same logits. A scaled
/// embedding is multiplied out, and then the output weight is no longer tied. Throws: Error(kBadData) for a model of
/// another architecture, and for weights that are not float32.
/// @param folder  the folder of `model`, for error messages
[[nodiscard]] PlainLanguageModel plain_language_model(const models::ModelFiles& model,
                                                      const std::filesystem::path& folder);

/// Returns the model with learned positions in place of sinusoidal ones or none. Rotary positions stay.
[[nodiscard]] PlainLanguageModel with_position_rows(PlainLanguageModel model);

/// Converts a language model to the files that GPT2LMHeadModel and AutoTokenizer of transformers load. The exported
/// model computes the same logits. docs/other_models.md has the mapping. Throws: Error(kBadData) for a model that GPT-2
/// cannot represent: "m/config.json: norm is "rms", GPT-2 has "layer"
///         only; the model cannot be exported", and for a vocabulary that is no tokenizer.json.
/// @param folder  the folder of `model`, for error messages
[[nodiscard]] ExportedModel export_gpt2(const models::ModelFiles& model, const std::filesystem::path& folder);

/// Converts a language model to a Llama, as export_gpt2. A model with QK-norm becomes a Qwen3. A model with a window
/// becomes a Mistral or, with biases of queries, keys and values, a Qwen2. Without a window a model with these biases
/// becomes a Qwen2 if its tokenizer has the split of Qwen2.
[[nodiscard]] ExportedModel export_llama(const models::ModelFiles& model, const std::filesystem::path& folder);

}  // namespace dragoman::interop
