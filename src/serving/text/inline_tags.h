#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serving/text/tag_words.h"

namespace dragoman::serving {

/// A tag inside a sentence and its place. The tags of a sentence are well nested.
struct InlineTag {
  enum class Kind { kStart, kEnd, kPoint };
  Kind kind;
  std::string bytes;          ///< the markup, which never changes
  size_t at = 0;              ///< number of characters of the sentence before the tag, without spaces
  bool after_space = false;   ///< the tag follows a space or begins the sentence
  bool before_space = false;  ///< a space follows the tag
  bool has_text = false;      ///< a kPoint that stands for words: the spaces beside it are kept
};

/// Returns the translation as HTML with the tags of its source, each once and well nested.
/// - A word attends to the source word with the largest attention weight. An element surrounds the run of words that
///   has the most words attending to the element, and the fewest attending elsewhere.
/// - If no word attends to an element, it surrounds the free word with the largest attention weight for it, if any.
/// - An element without words, and a kPoint, stands where it divides the words most as in the source. If there are
///   spaces on both sides of a kPoint, there are in the result.
/// A word is a run of letters and digits. Every other character, and each character of a script without spaces, is a
/// word by itself.
[[nodiscard]] std::string with_tags(std::span<const InlineTag> tags, const AlignedText& sentence);

}  // namespace dragoman::serving
