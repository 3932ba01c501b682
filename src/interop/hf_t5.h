#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "interop/exported_model.h"
#include "interop/hf_tensors.h"
#include "interop/marian_import.h"
#include "interop/piece_order.h"

namespace dragoman::interop {

/// The vocabulary of a T5 folder; a folder without it has tokenizer.json.
inline constexpr const char* kT5VocabularyName = "spiece.model";

/// The checked contents of config.json of a T5, T5 v1.1, mT5 or FLAN-T5.
struct HfT5Config {
  models::TransformerConfig model;  ///< `tying` is known by the tensors alone
  int64_t pad_id = 0;
  int64_t eos_id = 1;
  int64_t start_id = 0;  ///< first input of the decoder
};

/// Reads config.json of a T5; each key must be one that this program reads, one of a table of keys that do not change
/// the result, or null. Throws: Error(kBadData) with file, key and value, as gpt2_config_from_json.
[[nodiscard]] HfT5Config t5_config_from_json(std::string_view text, const std::string& file_name);

/// Returns all tensors of the layers and norms; not the tables of words.
[[nodiscard]] std::vector<HfTensor> hf_t5_tensors(const models::TransformerConfig& config);

/// Reads the folder of a T5 of Hugging Face transformers. It opens config.json, model.safetensors or the files of
/// model.safetensors.index.json, spiece.model or without it tokenizer.json (unigram_of_tokenizer_json), and, if they
/// exist, generation_config.json and tokenizer_config.json. The sentinels <extra_id_0> ... are pieces of the
/// vocabulary. The result computes the same logits. Throws: Error(kBadData) with the file, its value and what is
/// supported, as import_gpt2.
[[nodiscard]] ImportedModel import_t5(const std::filesystem::path& folder);

/// Returns the folder of a T5 as transformers reads it. @param folder  of the model, for errors
/// Throws: Error(kBadData) for a model that is no T5, "m/config.json: positions is sinusoidal, T5 has relative only;
/// the model cannot be exported".
[[nodiscard]] ExportedModel export_t5(const models::ModelFiles& model, const std::filesystem::path& folder);

}  // namespace dragoman::interop
