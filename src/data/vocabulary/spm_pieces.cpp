#include "data/vocabulary/spm_pieces.h"

#include <utility>

#include "base/protobuf.h"

namespace dragoman::data {

namespace {

constexpr uint64_t kPieces = 1;  // of ModelProto

}  // namespace

std::vector<SpmPiece> spm_pieces(std::string_view spm, std::string_view file_name) {
  std::vector<SpmPiece> pieces;
  base::FieldReader model(spm, file_name);
  for (base::ProtobufField field; model.next(field);) {
    if (field.number != kPieces || field.type != base::ProtobufField::kBytes) {
      continue;
    }
    SpmPiece piece;
    base::FieldReader entry(field.bytes, file_name);
    for (base::ProtobufField part; entry.next(part);) {
      piece.text = part.number == 1 ? std::string(part.bytes) : piece.text;
      piece.type = part.number == 3 ? part.value : piece.type;
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

std::vector<std::string> written_pieces(std::string_view spm, std::string_view file_name) {
  std::vector<std::string> written;
  for (SpmPiece& piece : spm_pieces(spm, file_name)) {
    if (piece.type != SpmPiece::kUnknown && piece.type != SpmPiece::kControl && piece.type != SpmPiece::kUnused) {
      written.push_back(std::move(piece.text));
    }
  }
  return written;
}

}  // namespace dragoman::data
