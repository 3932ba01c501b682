#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "interop/marian_import.h"

namespace dragoman::interop {

/// Reads config.json of a BART; each key must be one that this program reads, one of a table of keys that do not change
/// the result, or null. The sizes of the vocabulary are theirs.
/// Throws: Error(kBadData) with file, key and value, as m2m100_config_from_json.
[[nodiscard]] models::TransformerConfig bart_config_from_json(std::string_view text, const std::string& file_name);

/// Reads the folder of a BART of Hugging Face transformers. It opens config.json, model.safetensors or the files of its
/// index, tokenizer.json, or vocab.json and merges.txt without it, and, if it exists, generation_config.json, which or
/// else config.json must have forced_bos_token_id 0: a source stands between <s> and </s>, and what is written is made
/// to begin with <s>. The vocabulary becomes a tokenizer.json with dragoman's ids. The result computes the same logits.
/// Throws: Error(kBadData) with the file, its value and what is supported, as import_m2m100.
[[nodiscard]] ImportedModel import_bart(const std::filesystem::path& folder);

}  // namespace dragoman::interop
