#include "decoding/search/phrases.h"

#include <charconv>
#include <string_view>

#include "base/utf8.h"
#include "decoding/search/scripts.h"

namespace dragoman::decoding {
namespace {

constexpr std::string_view kSpacePiece = "\xE2\x96\x81";  // U+2581
constexpr std::string_view kBytePiece = "<0x";            // <0x41>, with byte fallback

char with_plain_space(char byte) {
  return byte == '\n' || byte == '\r' || byte == '\0' ? ' ' : byte;
}

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

// The longest piece that the text begins with; -1 for none.
int32_t longest_piece(const data::Vocabulary& vocabulary, std::string_view text) {
  std::string spelled;
  int32_t longest = -1;
  for (size_t end = 0; end < text.size();) {
    do {
      spelled += text[end] == ' ' ? kSpacePiece : text.substr(end, 1);
    } while (++end < text.size() && !begins_character(text[end]));
    const int32_t id = vocabulary.id(spelled);
    if (piece_text(vocabulary, id) == text.substr(0, end)) {  // not a special piece, nor the byte of <0x41>
      longest = id;
    }
  }
  return longest;
}

// Whether a phrase can be written from its start to its end.
bool can_be_written(const data::Vocabulary& vocabulary, const Phrase& phrase) {
  size_t at = 0;
  while (at < phrase.text.size() && phrase.next[at] >= 0) {
    at += piece_text(vocabulary, phrase.next[at]).size();
  }
  return at == phrase.text.size();
}

bool begins_without_space(std::string_view text) {
  const std::u32string characters = base::decode_utf8(text.substr(0, 5));  // a space and one of up to four bytes
  return characters.size() > 1 && characters[0] == U' ' && written_without_spaces(characters[1]);
}

}  // namespace

std::string piece_text(const data::Vocabulary& vocabulary, int32_t id) {
  if (id <= data::kEosId) {
    return "";
  }
  const std::string_view piece = vocabulary.piece(id);
  unsigned byte = 0;
  if (vocabulary.has_byte_fallback() && piece.starts_with(kBytePiece) && piece.ends_with('>') &&
      std::from_chars(piece.data() + kBytePiece.size(), piece.data() + piece.size() - 1, byte, 16).ec == std::errc()) {
    return {with_plain_space(static_cast<char>(byte))};
  }
  std::string text;
  for (size_t at = 0; at < piece.size();) {
    const bool space = piece.substr(at).starts_with(kSpacePiece);
    text.push_back(space ? ' ' : with_plain_space(piece[at]));
    at += space ? kSpacePiece.size() : 1;
  }
  return text;
}

Phrase make_phrase(const data::Vocabulary& vocabulary, std::span<const int32_t> ids) {
  Phrase phrase;
  std::vector<size_t> begins;  // of the pieces
  for (const int32_t id : ids) {
    begins.push_back(phrase.text.size());
    phrase.text += piece_text(vocabulary, id);
  }
  phrase.next.assign(phrase.text.size(), -1);
  for (size_t at = 0; at < phrase.text.size(); ++at) {
    if (begins_character(phrase.text[at])) {
      phrase.next[at] = longest_piece(vocabulary, std::string_view(phrase.text).substr(at));
    }
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    phrase.next[begins[i]] = ids[i];
  }
  if (begins_without_space(phrase.text)) {
    Phrase inside{phrase.text.substr(1), {phrase.next.begin() + 1, phrase.next.end()}};
    return can_be_written(vocabulary, inside) ? inside : phrase;
  }
  return phrase;
}

}  // namespace dragoman::decoding
