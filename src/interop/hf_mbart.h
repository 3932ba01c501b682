#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "interop/marian_import.h"

namespace dragoman::interop {

/// Reads config.json of an mBART-50; each key must be one that this program reads, one of a table of keys that do not
/// change the result, or null. The sizes of the vocabulary are theirs.
/// Throws: Error(kBadData) with file, key and value, as m2m100_config_from_json.
[[nodiscard]] models::TransformerConfig mbart_config_from_json(std::string_view text, const std::string& file_name);

/// Reads the folder of an mBART-50 of Hugging Face transformers: the files of import_m2m100, with
/// sentencepiece.bpe.model and without vocab.json. A language `fr_XX` is the piece >>fr_XX<<. If the folder has
/// forced_bos_token_id, the language of this id is the only target. The result computes the same logits, and
/// languages.json says what it translates. Throws: Error(kBadData) with the file, its value and what is supported; so
/// for an mBART of 25 languages, whose codes stand behind the text.
[[nodiscard]] ImportedModel import_mbart(const std::filesystem::path& folder);

}  // namespace dragoman::interop
