#pragma once

#include <string>
#include <string_view>

#include "data/vocabulary/tokenizer_spec.h"

namespace dragoman::data {

/// Reads a tokenizer.json, the file of the `tokenizers` package, with a BPE or WordPiece model. Truncation and padding
/// are ignored, because they concern batches. The ids must be 0 to size - 1, those of the model first.
/// @param name  the file, for errors
/// Throws: Error(kBadData) for everything that is not known or not well formed, "tokenizer.json: model.type is
/// "Unigram"; known are BPE and WordPiece", "tokenizer.json: merge 7 is "th e", and "the" is no piece of model.vocab".
TokenizerSpec read_tokenizer_json(std::string_view text, std::string_view name);

/// Returns the file of a tokenizer, which read_tokenizer_json reads as `spec`. Requires: `spec` has no normalizer, no
/// splits but one pattern, no `first`, and a spelling without a mark.
std::string write_tokenizer_json(const TokenizerSpec& spec);

/// Returns the file `text` with the special ids written into its model, under the key "dragoman". Other programs ignore
/// this key. Requires: `text` has been read.
std::string with_special_ids(std::string_view text, const SpecialIds& special);

}  // namespace dragoman::data
