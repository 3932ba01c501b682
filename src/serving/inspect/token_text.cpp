#include "serving/inspect/token_text.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace dragoman::serving {

std::string token_text(const data::Vocabulary& vocabulary, int32_t id) {
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

std::vector<std::string> shown_pieces(const data::Vocabulary& vocabulary, std::span<const int32_t> ids) {
  if (vocabulary.format() == data::Vocabulary::Format::kSentencePiece) {
    return vocabulary.pieces(ids);
  }
  std::vector<std::string> pieces;
  for (const int32_t id : ids) {
    pieces.push_back(token_text(vocabulary, id));
  }
  return pieces;
}

}  // namespace dragoman::serving
