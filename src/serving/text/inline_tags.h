#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serving/text/tag_words.h"

namespace dragoman::serving {

/// A tag that stands inside a sentence, and where. The tags of a sentence are well nested.
struct InlineTag {
  enum class Kind { kStart, kEnd, kPoint };
  Kind kind;
  std::string bytes;         ///< as they came, and as they go
  size_t at = 0;             ///< characters of the sentence before it, spaces not counted
  bool after_space = false;  ///< a space, or nothing, stands before it
};

/// The translation with the tags of its source, each once and well nested, as HTML. An element stands around those
/// words of the translation that look at its words most: of each run of words the one with the most that do and the
/// fewest that do not. One that no word looks at gets the word that looks at it most, while there is one left; one
/// without words, and what is a point, stands where it parts the words most like in the source. Words are runs of
/// letters and digits, or single characters of any other kind and of scripts that are written without spaces.
std::string with_tags(std::span<const InlineTag> tags, const AlignedText& sentence);

}  // namespace dragoman::serving
