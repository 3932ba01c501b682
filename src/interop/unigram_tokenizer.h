#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::interop {

/// A tokenizer.json with a Unigram model as the SentencePiece model that cuts text in the same way.
struct UnigramModel {
  std::string spm;                 ///< a serialised SentencePiece model, in the order of the ids of the file
  int64_t sentinels = 0;           ///< number of <extra_id_N> behind its pieces, the last one first; not in `spm`
  std::vector<std::string> notes;  ///< where texts may be cut otherwise, one line each
};

/// Reads a tokenizer.json of the `tokenizers` package with a Unigram model, as T5 and mT5 have it: a Precompiled
/// normalizer or none, WhitespaceSplit and Metaspace or Metaspace alone, and </s> behind each text. Added tokens are
/// <pad>, </s>, <unk> and sentinels; like a SentencePiece model, the result does not find <pad>, </s> and <unk> in
/// text.
/// @param name  the file, for errors
/// Throws: Error(kBadData) for all else, with the part, its value and what is known, "m/tokenizer.json: model.type is
/// "BPE", must be Unigram for a T5", "m/tokenizer.json: normalizer.normalizers[1].type is "Lowercase"; ...".
[[nodiscard]] UnigramModel unigram_of_tokenizer_json(std::string_view text, const std::string& name);

}  // namespace dragoman::interop
