#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/vocabulary/vocabulary.h"

namespace dragoman::data {

/// Returns a token as text of JSON: its characters, or "bytes:\xe4\xbd" for a part of a character. A special token is
/// its piece. An id that the vocabulary lacks, as rows of some models are, is "<327>".
[[nodiscard]] std::string token_text(const Vocabulary& vocabulary, int32_t id);

/// Returns the pieces of ids as a page shows them: those of SentencePiece, and with tokenizer.json the text of each.
[[nodiscard]] std::vector<std::string> shown_pieces(const Vocabulary& vocabulary, std::span<const int32_t> ids);

}  // namespace dragoman::data
