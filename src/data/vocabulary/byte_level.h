#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dragoman::data {

/// The byte-level alphabet: each of the 256 bytes is written as one printable character, so a piece of any bytes is
/// valid text. The bytes 33 to 126, 161 to 172 and 174 to 255 are the characters of the same number. The other 68, in
/// rising order, are U+0100 to U+0143. A space is therefore U+0120.
/// Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.2, and the encoder
/// published with it.

/// Returns the character that stands for `byte`.
[[nodiscard]] char32_t byte_level_character(unsigned char byte);

/// Returns `bytes` as text of the alphabet.
[[nodiscard]] std::string to_byte_level(std::string_view bytes);

/// Returns the bytes that `text` spells; empty if a character of `text` is not in the alphabet.
[[nodiscard]] std::optional<std::string> from_byte_level(std::string_view text);

}  // namespace dragoman::data
