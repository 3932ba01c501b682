#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/vocabulary/vocabulary.h"
#include "interop/hf_language_config.h"

namespace dragoman::interop {

/// Reads the tokenizer of a decoder-only model: tokenizer.json, vocab.json and merges.txt of GPT-2, or tokenizer.model
/// of Llama and Mistral. The special ids are those of the configuration, where it names any. An eos, pad or bos beyond
/// the pieces is left out, with a note. Throws: Error(kBadData) with the file, for a tokenizer that data::Vocabulary
/// does not read, one with more pieces than
///         the model has rows, and a folder with other kinds only: "m/tokenizer.json: is missing; ... Load the
///         tokenizer with AutoTokenizer of transformers and save it with save_pretrained".
[[nodiscard]] data::Vocabulary read_hf_tokenizer(const std::filesystem::path& folder, const HfLanguageConfig& config,
                                                 std::vector<std::string>& notes);

/// Throws: Error(kBadData) if the vocabulary is no tokenizer.json, or has more pieces than the model has rows.
/// @param vocab_size  of config.json
void check_hf_tokenizer(const data::Vocabulary& vocabulary, const std::filesystem::path& folder, int64_t vocab_size);

/// Returns the text of tokenizer_config.json, with which AutoTokenizer loads tokenizer.json as it is.
/// @param chat  the text of chat.json; empty for none
[[nodiscard]] std::string hf_tokenizer_config_json(const data::Vocabulary& vocabulary, int64_t max_positions,
                                                   const std::string& chat);

}  // namespace dragoman::interop
