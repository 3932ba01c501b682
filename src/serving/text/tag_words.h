#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/steps/alignment.h"

namespace dragoman::serving {

/// A sentence, its translation, and the alignment of their pieces.
struct AlignedText {
  std::string_view source;  ///< without tags
  std::string_view text;    ///< the translation
  std::span<const std::string> source_pieces;
  std::span<const std::string> pieces;
  const decoding::Alignment& alignment;  ///< [pieces, source_pieces]; with another shape the words are aligned by
                                         ///< their relative positions
};

/// A word of a translation, and the source characters to which it attends.
struct TagWord {
  size_t begin = 0;  ///< in bytes of the text
  size_t end = 0;
  bool has_letters = false;  ///< or digits
  size_t source = 0;         ///< source character with the largest weight; spaces are not counted
  struct Look {
    size_t source;  ///< the middle character of a source piece
    float weight;
  };
  std::vector<Look> looks;  ///< one for each source piece that has characters; may be empty
};

/// Returns the words of a translation in order. The words and the spaces between them are its whole text.
[[nodiscard]] std::vector<TagWord> tag_words(const AlignedText& sentence);

/// Returns the number of characters of `text` that are no spaces.
[[nodiscard]] size_t count_without_spaces(std::string_view text);

}  // namespace dragoman::serving
