#pragma once

namespace dragoman::decoding {

/// Whether words of the character's script stand side by side without spaces: Thai, Lao, Burmese, Khmer, Chinese
/// characters, kana, bopomofo, Yi, and the full-width forms. Korean has spaces.
bool written_without_spaces(char32_t c);

/// A character that words of scripts with spaces are made of. Beyond ASCII that is anything from U+00C0 up to U+2E80,
/// general punctuation (U+2000 to U+206F) and scripts without spaces left out. Korean is above: its particles are
/// written on to the word, so that a word may end anywhere.
bool is_word_character(char32_t c);

}  // namespace dragoman::decoding
