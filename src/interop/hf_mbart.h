#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "interop/exported_model.h"
#include "interop/hf_encoder_decoder.h"

namespace dragoman::interop {

/// Reads config.json of an mBART-50; each key must be one that this program reads, one of a table of keys that do not
/// change the result, or null.
/// Throws: Error(kBadData) with file, key and value, as m2m100_config_from_json.
[[nodiscard]] BartConfig mbart_config_from_json(std::string_view text, const std::string& file_name);

/// Reads the folder of an mBART-50 of Hugging Face transformers: the files of import_m2m100, with
/// sentencepiece.bpe.model and without vocab.json. A language `fr_XX` is the piece >>fr_XX<<. If the folder has
/// forced_bos_token_id, the language of this id is the only target. The result computes the same logits, and
/// languages.json says what it translates. Throws: Error(kBadData) with the file, its value and what is supported; so
/// for an mBART of 25 languages, whose codes stand behind the text.
[[nodiscard]] ImportedModel import_mbart(const std::filesystem::path& folder);

/// Returns the folder of an mBART-50 as transformers reads it: config.json, generation_config.json, model.safetensors,
/// sentencepiece.bpe.model and tokenizer_config.json with the languages. It computes the same logits. If <s> and </s>
/// differ, as they do after training, the decoder begins with the last row of the table.
/// Throws: Error(kBadData) for a model that is none, as export_bart; "m/vocabulary.spm: has no pieces of languages,
/// ...".
[[nodiscard]] ExportedModel export_mbart(const models::ModelFiles& model, const std::filesystem::path& folder,
                                         const ExportedSearch& search);

}  // namespace dragoman::interop
