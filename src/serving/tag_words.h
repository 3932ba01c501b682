#pragma once

#include <vector>

#include "serving/inline_tags.h"

namespace dragoman::serving {

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
