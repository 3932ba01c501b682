#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/steps/alignment.h"

namespace dragoman::serving {

/// A sentence translated whole, and how its pieces look at each other.
struct AlignedText {
  std::string_view source;  ///< as it was translated, without tags
  std::string_view text;    ///< of the translation
  std::span<const std::string> source_pieces;
  std::span<const std::string> pieces;
  const decoding::Alignment& alignment;  ///< [pieces, source_pieces]; of another shape: the translation is taken to go
                                         ///< as straight through the source as it can
};

/// A word of a translation, and the words of the source it stands for.
struct TagWord {
  size_t begin = 0;  ///< in bytes of the text
  size_t end = 0;
  bool has_letters = false;  ///< or digits
  size_t source = 0;         ///< the character of the source, spaces not counted, that it looks at most
  struct Look {
    size_t source;  ///< a character in the middle of a source piece
    float weight;
  };
  std::vector<Look> looks;  ///< at all source pieces that hold characters; may be empty
};

/// The words of a translation in order; together with the spaces between them they are its text.
std::vector<TagWord> tag_words(const AlignedText& sentence);

/// Characters of `text` that are no spaces.
size_t count_without_spaces(std::string_view text);

}  // namespace dragoman::serving
