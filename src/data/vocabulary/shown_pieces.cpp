#include "data/vocabulary/shown_pieces.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace dragoman::data {

std::string token_text(const Vocabulary& vocabulary, int32_t id) {
  if (id >= vocabulary.size()) {  // some models have more rows than their vocabulary has pieces
    return fmt::format("<{}>", id);
  }
  const std::string bytes = vocabulary.piece_bytes(id);
  if (bytes.empty()) {
    return vocabulary.piece(id);
  }
  if (base::is_valid_utf8(bytes)) {
    return bytes;
  }
  std::string text = "bytes:";
  for (const char byte : bytes) {
    text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
  return text;
}

std::vector<std::string> shown_pieces(const Vocabulary& vocabulary, std::span<const int32_t> ids) {
  const bool is_plain = vocabulary.format() == Vocabulary::Format::kSentencePiece;
  std::vector<std::string> pieces;
  for (const int32_t id : ids) {
    pieces.push_back(is_plain && id < vocabulary.size() ? vocabulary.piece(id) : token_text(vocabulary, id));
  }
  return pieces;
}

}  // namespace dragoman::data
