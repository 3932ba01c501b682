#include "data/vocabulary/piece_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/error.h"
#include "base/protobuf.h"
#include "base/utf8.h"
#include "data/vocabulary/sentencepiece_check.h"

namespace dragoman::data {
namespace {

constexpr uint64_t kListField = 1746;                           // of ModelProto, which leaves 200 and above to others
constexpr uint64_t kPieceField = 1;                             // of the list, once a piece
constexpr std::string_view kCodeBegin = ">>", kCodeEnd = "<<";  // of a language

// Where the list is: its content, and the bytes of the file before it.
struct ListPlace {
  std::string_view content;
  size_t begin = std::string_view::npos;  // npos: there is no list
};

ListPlace find_list(std::string_view spm, std::string_view name) {
  ListPlace place;
  base::FieldReader reader(spm, name);
  base::ProtobufField field;
  for (size_t begin = 0; reader.next(field); begin = reader.position()) {
    base::check_data(place.begin == std::string_view::npos, "{}: piece list: is not at the end of the file; {}", name,
                     base::kDamaged);
    if (field.number == kListField && field.type == base::ProtobufField::kBytes) {
      place = {field.bytes, begin};
    }
  }
  return place;
}

void check_listed_piece(const std::vector<std::string>& pieces, size_t id, std::string_view name) {
  const std::string& piece = pieces[id];
  base::check_data(!piece.empty() && piece.size() <= kMaxPieceBytes,
                   "{}: piece list: piece {} has {} bytes, 1 to {} are allowed; {}", name, id, piece.size(),
                   kMaxPieceBytes, base::kDamaged);
  base::check_data(base::is_valid_utf8(piece) && piece.find('\0') == std::string::npos,
                   "{}: piece list: piece {} is not UTF-8 text; {}", name, id, base::kDamaged);
  base::check_data(id >= kSpecialPieces.size() || piece == kSpecialPieces[id],
                   "{}: piece list: piece {} is '{}', must be {}; {}", name, id, piece,
                   kSpecialPieces[std::min(id, kSpecialPieces.size() - 1)], base::kDamaged);
}

void check_list(const std::vector<std::string>& pieces, std::string_view name) {
  base::check_data(pieces.size() > kSpecialPieces.size() && pieces.size() <= size_t{kMaxPieces},
                   "{}: piece list: has {} pieces, {} to {} are allowed; {}", name, pieces.size(),
                   kSpecialPieces.size() + 1, kMaxPieces, base::kDamaged);
  std::unordered_map<std::string_view, size_t> ids;
  for (size_t id = 0; id < pieces.size(); ++id) {
    check_listed_piece(pieces, id, name);
    if (id < kSpecialPieces.size()) {
      continue;  // an ordinary piece may be spelled like a special one
    }
    const auto [place, is_new] = ids.emplace(pieces[id], id);
    base::check_data(is_new, "{}: piece list: piece {} is '{}', as is piece {}; {}", name, id, pieces[id],
                     place->second, base::kDamaged);
  }
}

}  // namespace

std::string sentinel_piece(int64_t number) {
  return fmt::format("{}{}>", kSentinelBegin, number);
}

std::string language_piece(std::string_view code) {
  return fmt::format("{}{}{}", kCodeBegin, code, kCodeEnd);
}

std::string code_of_language_piece(std::string_view piece) {
  return std::string(piece.substr(kCodeBegin.size(), piece.size() - kCodeBegin.size() - kCodeEnd.size()));
}

bool is_language_piece(std::string_view piece) {
  return piece.size() > kCodeBegin.size() + kCodeEnd.size() && piece.starts_with(kCodeBegin) &&
         piece.ends_with(kCodeEnd);
}

std::string with_piece_list(std::string_view spm, const std::vector<std::string>& pieces, std::string_view name) {
  check_list(pieces, name);
  base::check_data(find_list(spm, name).begin == std::string_view::npos, "{}: has a piece list already", name);
  base::ProtobufMessage list;
  for (const std::string& piece : pieces) {
    list.add_bytes(kPieceField, piece);
  }
  return std::string(spm) + base::ProtobufMessage().add_message(kListField, list).bytes();
}

std::string without_piece_list(std::string_view spm, std::string_view name) {
  return std::string(spm.substr(0, find_list(spm, name).begin));
}

std::vector<std::string> read_piece_list(std::string_view spm, std::string_view name) {
  const ListPlace place = find_list(spm, name);
  std::vector<std::string> pieces;
  if (place.begin == std::string_view::npos) {
    return pieces;
  }
  base::FieldReader reader(place.content, name);
  for (base::ProtobufField field; reader.next(field);) {
    if (field.number == kPieceField && field.type == base::ProtobufField::kBytes &&
        pieces.size() <= size_t{kMaxPieces}) {
      pieces.emplace_back(field.bytes);
    }
  }
  check_list(pieces, name);
  return pieces;
}

}  // namespace dragoman::data
