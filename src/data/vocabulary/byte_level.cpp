#include "data/vocabulary/byte_level.h"

#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace dragoman::data {
namespace {

constexpr char32_t kFirstMoved = 0x100;
constexpr size_t kCharacters = kFirstMoved + 68;

constexpr bool stands_for_itself(int byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

struct Alphabet {
  std::array<char32_t, 256> character{};
  std::array<int16_t, kCharacters> byte{};  // -1: no character of the alphabet

  constexpr Alphabet() {
    byte.fill(-1);
    char32_t moved = kFirstMoved;
    for (int value = 0; value < 256; ++value) {
      const char32_t c = stands_for_itself(value) ? static_cast<char32_t>(value) : moved++;
      character[static_cast<size_t>(value)] = c;
      byte[c] = static_cast<int16_t>(value);
    }
  }
};

constexpr Alphabet kAlphabet;

}  // namespace

char32_t byte_level_character(unsigned char byte) {
  return kAlphabet.character[byte];
}

std::string to_byte_level(std::string_view bytes) {
  std::u32string text;
  for (const char byte : bytes) {
    text.push_back(byte_level_character(static_cast<unsigned char>(byte)));
  }
  return base::encode_utf8(text);
}

std::optional<std::string> from_byte_level(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at < text.size();) {
    const base::CodePoint c = base::code_point_at(text, at);
    if (!c.is_valid || c.value >= kCharacters || kAlphabet.byte[c.value] < 0) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<char>(kAlphabet.byte[c.value]));
    at += c.bytes;
  }
  return bytes;
}

}  // namespace dragoman::data
