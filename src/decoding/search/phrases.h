#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/vocabulary/vocabulary.h"

namespace dragoman::decoding {

/// A phrase that a translation must hold. It does where this text stands in the text of its pieces, however they cut
/// it.
struct Phrase {
  std::string text;           ///< UTF-8, " house": a space stands before every word, the first of a line too
  std::vector<int32_t> next;  ///< [bytes of text] the piece to write on with when so many bytes are there, -1 = none

  bool operator==(const Phrase&) const = default;
};

/// Phrases, and the text that pieces add.
struct Phrases {
  std::vector<Phrase> all;
  std::function<std::string(int32_t id)> text_of;  ///< safe for any number of threads; needed when there are phrases

  bool empty() const { return all.empty(); }
};

/// What a piece adds to the text of a translation: spaces for U+2581, a byte for a byte piece, nothing for a special
/// piece. Line ends and NUL are spaces, as in Vocabulary::decode.
std::string piece_text(const data::Vocabulary& vocabulary, int32_t id);

/// The phrase that these pieces spell. Its text begins with a space, so that it begins a word; but with none where its
/// first character is of a script without spaces (see written_without_spaces), in which a phrase stands anywhere in a
/// line and a space before it would be wrong.
/// From where one of the pieces begins, that piece is written on with, else the longest piece that fits.
/// @param ids  the best cut of the phrase: Vocabulary::encode; none unknown. No ids: an empty phrase
Phrase make_phrase(const data::Vocabulary& vocabulary, std::span<const int32_t> ids);

}  // namespace dragoman::decoding
