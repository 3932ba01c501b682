#include "data/vocabulary/sentencepiece_check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/protobuf.h"
#include "base/utf8.h"

namespace dragoman::data {
namespace {

constexpr int64_t kMinPieces = 5;  // four special pieces and one to write with

// ModelProto.SentencePiece: piece = 1, score = 2, type = 3.
void check_piece(std::string_view message, std::string_view name, SentencePieceSummary& summary) {
  const int64_t index = summary.pieces++;
  base::check_data(summary.pieces <= kMaxPieces, "{}: has more than {} pieces; {}", name, kMaxPieces, base::kDamaged);
  std::string_view piece;
  base::FieldReader reader(message, name);
  for (base::ProtobufField field; reader.next(field);) {
    if (field.number == 1 && field.type == base::ProtobufField::kBytes) {
      piece = field.bytes;
    }
    if (field.number == 2 && field.type == base::ProtobufField::kFixed32) {
      const float score = std::bit_cast<float>(static_cast<uint32_t>(field.value));
      base::check_data(std::isfinite(score), "{}: the score of piece {} is {}; {}", name, index, score, base::kDamaged);
    }
  }
  base::check_data(!piece.empty() && piece.size() <= kMaxPieceBytes,
                   "{}: piece {} has {} bytes, 1 to {} are allowed; {}", name, index, piece.size(), kMaxPieceBytes,
                   base::kDamaged);
  base::check_data(base::is_valid_utf8(piece) && piece.find('\0') == std::string_view::npos,
                   "{}: piece {} is not UTF-8 text; {}", name, index, base::kDamaged);
  summary.longest_piece_bytes = std::max(summary.longest_piece_bytes, static_cast<int64_t>(piece.size()));
}

// TrainerSpec: model_type = 3 (1 unigram, 2 BPE), byte_fallback = 35.
void check_trainer_spec(std::string_view message, std::string_view name, SentencePieceSummary& summary) {
  base::FieldReader reader(message, name);
  for (base::ProtobufField field; reader.next(field);) {
    if (field.number == 3 && field.type == base::ProtobufField::kVarint) {
      base::check_data(field.value == 1 || field.value == 2,
                       "{}: has model type {}; only unigram (1) and BPE (2) are supported", name, field.value);
      summary.is_bpe = field.value == 2;
    }
    if (field.number == 35 && field.type == base::ProtobufField::kVarint) {
      summary.byte_fallback = field.value != 0;
    }
  }
}

// One unit of a Darts-clone double-array trie.
struct TrieUnit {
  uint32_t bits;
  bool has_leaf() const { return (bits >> 8 & 1) != 0; }
  uint32_t value() const { return bits & 0x7FFFFFFF; }
  uint32_t label() const { return bits & 0x800000FF; }
  uint32_t offset() const { return (bits >> 10) << ((bits & 0x200) >> 6); }
};

constexpr uint32_t kNoUnit = 0xFFFFFFFF;

// The units that a step from each base can reach: a unit is reached by its own label, from the base unit ^ label.
class TrieSteps {
 public:
  explicit TrieSteps(const std::vector<TrieUnit>& units) : first_(units.size(), kNoUnit), next_(units.size(), kNoUnit) {
    for (uint32_t unit = 0; unit < units.size(); ++unit) {
      const uint32_t label = units[unit].label(), base = unit ^ label;
      if (label <= 0xFF && base < units.size()) {  // a greater label marks a text
        next_[unit] = std::exchange(first_[base], unit);
      }
    }
  }

  // kNoUnit after the last.
  uint32_t first(uint32_t base) const { return first_[base]; }
  uint32_t next(uint32_t unit) const { return next_[unit]; }

 private:
  std::vector<uint32_t> first_;  // of each base
  std::vector<uint32_t> next_;   // of each unit
};

// The precompiled character map: uint32 size of the trie in bytes, trie units, then NUL-terminated replacements.
// A lookup goes from unit p to base = p ^ offset and then to base ^ byte, so the whole block of 256 units around each
// reachable base must lie in the table; a leaf's value is a position in the replacements.
void check_character_map(std::string_view map, std::string_view name) {
  if (map.empty()) {
    return;  // normalisation "identity"
  }
  const auto require = [name](bool condition, const char* what) {
    base::check_data(condition, "{}: normalisation table: {}; {}", name, what, base::kDamaged);
  };
  require(map.size() >= 4, "cut short");
  uint32_t trie_bytes;
  std::memcpy(&trie_bytes, map.data(), sizeof trie_bytes);
  require(trie_bytes <= map.size() - 4 && trie_bytes % 4 == 0 && trie_bytes >= 1024, "impossible size");
  const std::string_view replacements = map.substr(4 + trie_bytes);
  require(!replacements.empty() && replacements.back() == '\0', "unterminated text");
  std::vector<TrieUnit> units(trie_bytes / 4);
  std::memcpy(units.data(), map.data() + 4, trie_bytes);

  const TrieSteps steps(units);
  std::vector<bool> seen(units.size(), false);
  std::vector<uint32_t> pending{0};
  seen[0] = true;
  while (!pending.empty()) {
    const uint32_t at = pending.back();
    pending.pop_back();
    const uint32_t base_unit = at ^ units[at].offset();
    require((base_unit | 0xFFu) < units.size(), "a step leads outside");
    if (units[at].has_leaf()) {
      require(units[base_unit].value() < replacements.size(), "a text lies outside");
    }
    for (uint32_t child = steps.first(base_unit); child != kNoUnit; child = steps.next(child)) {
      if (seen[child]) {
        continue;
      }
      seen[child] = true;
      pending.push_back(child);
    }
  }
}

// NormalizerSpec: precompiled_charsmap = 2.
void check_normalizer_spec(std::string_view message, std::string_view name) {
  base::FieldReader reader(message, name);
  for (base::ProtobufField field; reader.next(field);) {
    if (field.number == 2 && field.type == base::ProtobufField::kBytes) {
      check_character_map(field.bytes, name);
    }
  }
}

}  // namespace

// ModelProto: pieces = 1, trainer_spec = 2, normalizer_spec = 3, denormalizer_spec = 5.
SentencePieceSummary check_sentencepiece_model(std::string_view serialized, std::string_view name) {
  base::check_data(!serialized.empty() && serialized.size() <= kMaxModelBytes,
                   "{}: has {} bytes, a sub-word model has 1 to {}; is this a SentencePiece model?", name,
                   serialized.size(), kMaxModelBytes);
  SentencePieceSummary summary;
  base::FieldReader reader(serialized, name);
  for (base::ProtobufField field; reader.next(field);) {
    if (field.type != base::ProtobufField::kBytes) {
      continue;
    }
    if (field.number == 1) {
      check_piece(field.bytes, name, summary);
    }
    if (field.number == 2) {
      check_trainer_spec(field.bytes, name, summary);
    }
    if (field.number == 3 || field.number == 5) {
      check_normalizer_spec(field.bytes, name);
    }
  }
  base::check_data(summary.pieces >= kMinPieces,
                   "{}: has {} pieces, at least {} are needed; is this a SentencePiece model?", name, summary.pieces,
                   kMinPieces);
  return summary;
}

}  // namespace dragoman::data
