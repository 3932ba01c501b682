#pragma once

#include <string_view>

namespace dragoman::serving {

/// The words and signs by which one language tells a full stop inside a sentence from the end of a sentence. A list of
/// words has a space before and behind each word. A word in small letters also means the word with a capital; a word
/// with a capital means only itself and the word in capitals.
struct SentenceRules {
  std::u32string_view codes = {};    ///< base codes of the languages
  std::u32string_view inside = {};   ///< abbreviations that never end a sentence: titles before names, z.B.
  std::u32string_view at_ends = {};  ///< abbreviations that may end a sentence: they do before a word of `openers`
  std::u32string_view numbers = {};  ///< abbreviations before a number; before anything else they are words
  std::u32string_view openers = {};  ///< words with which many sentences begin, in small letters, and no name does
  std::u32string_view letters = {};  ///< words of one letter
  std::u32string_view ending = {};   ///< words that end so may end a sentence too, as those of `at_ends`
  bool has_ordinals = false;         ///< a number and a full stop are an ordinal
  bool points_inwards = false;       ///< quotes are »so«, so that » opens
  char32_t mark = 0;                 ///< a mark like the question mark; 0 = none
};

/// Returns the rules of a language, or those that hold for any language.
/// @param language  a code such as "de" or "pt-BR"; empty = unknown
[[nodiscard]] const SentenceRules& sentence_rules(std::string_view language);

/// Returns whether a list of words has `word`.
[[nodiscard]] bool has_word(std::u32string_view list, std::u32string_view word);

}  // namespace dragoman::serving
