#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "interop/exported_model.h"
#include "interop/hf_encoder_decoder.h"

namespace dragoman::interop {

/// Reads config.json of a BART; each key must be one that this program reads, one of a table of keys that do not change
/// the result, or null.
/// Throws: Error(kBadData) with file, key and value, as m2m100_config_from_json.
[[nodiscard]] BartConfig bart_config_from_json(std::string_view text, const std::string& file_name);

/// Reads the folder of a BART of Hugging Face transformers. It opens config.json, model.safetensors or the files of its
/// index, tokenizer.json, or vocab.json and merges.txt without it, and, if it exists, generation_config.json, which or
/// else config.json must have forced_bos_token_id 0: a source stands between <s> and </s>, and what is written is made
/// to begin with <s>. The vocabulary becomes a tokenizer.json with dragoman's ids. The result computes the same logits.
/// Throws: Error(kBadData) with the file, its value and what is supported, as import_m2m100.
[[nodiscard]] ImportedModel import_bart(const std::filesystem::path& folder);

/// Returns the folder of a BART as transformers reads it: config.json, generation_config.json, model.safetensors,
/// tokenizer.json and tokenizer_config.json. It computes the same logits. The model must have the vocabulary of an
/// imported one. If <s> and </s> differ, as they do after training, the decoder begins with a piece <start> behind all
/// others. @param folder  of the model, for errors
/// Throws: Error(kBadData) for a model that is no BART, "m/config.json: norm_order is pre, BART has post only; the
/// model cannot be exported", "m/tokenizer.json: piece 4 is \"!\", must be <s>, as in an imported BART; ...".
[[nodiscard]] ExportedModel export_bart(const models::ModelFiles& model, const std::filesystem::path& folder,
                                        const ExportedSearch& search);

}  // namespace dragoman::interop
