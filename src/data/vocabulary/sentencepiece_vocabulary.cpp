#include "data/vocabulary/sentencepiece_vocabulary.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/error.h"
#include "base/utf8.h"
#include "data/vocabulary/byte_piece.h"
#include "data/vocabulary/one_line.h"
#include "data/vocabulary/piece_list.h"

namespace dragoman::data {
namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581, how pieces spell a space
constexpr const char* kUnknownText = " \u2047 ";     // how SentencePiece shows unk

std::string with_plain_spaces(std::string_view spelled) {
  std::string plain;
  for (size_t at = 0; at < spelled.size();) {
    const bool space = spelled.substr(at).starts_with(kSpace);
    plain.push_back(space ? ' ' : spelled[at]);
    at += space ? kSpace.size() : 1;
  }
  return plain;
}

std::string fit(std::string_view text) {
  return base::is_valid_utf8(text) && text.find('\0') == std::string_view::npos ? std::string(text)
                                                                                : base::repair_utf8(text);
}

}  // namespace

SentencePieceVocabulary::SentencePieceVocabulary(std::string_view serialized, std::string_view name)
    : serialized_(serialized), summary_(check_sentencepiece_model(serialized, name)) {
  const auto status = processor_.LoadFromSerializedProto(serialized);
  base::check_data(status.ok(), "{}: SentencePiece refuses it: {}; train the vocabulary again", name,
                   status.ToString());
  read_list(name);
  if (listed_.empty()) {
    check_special_ids(name);
  }
}

VocabularyModel::Traits SentencePieceVocabulary::traits() const {
  return {.has_piece_list = !listed_.empty(),
          .is_bpe = summary_.is_bpe,
          .has_byte_fallback = summary_.byte_fallback,
          .adds_bos = false};
}

void SentencePieceVocabulary::check_special_ids(std::string_view name) const {
  const int pad = processor_.pad_id(), unk = processor_.unk_id(), bos = processor_.bos_id(), eos = processor_.eos_id();
  base::check_data(
      pad == kPadId && unk == kUnkId && bos == kBosId && eos == kEosId,
      "{}: pad, unk, bos, eos are {}, {}, {}, {}, they must be 0, 1, 2, 3; train the vocabulary with dragoman", name,
      pad, unk, bos, eos);
}

void SentencePieceVocabulary::read_list(std::string_view name) {
  listed_ = read_piece_list(serialized_, name);
  for (size_t id = kEosId + 1; id < listed_.size(); ++id) {
    listed_ids_.emplace(listed_[id], static_cast<int32_t>(id));
  }
  has_sentinels_ = listed_ids_.contains(sentinel_piece(0));
  has_languages_ = std::ranges::count_if(listed_, is_language_piece) > 1;
}

int32_t SentencePieceVocabulary::size() const {
  return listed_.empty() ? processor_.GetPieceSize() : static_cast<int32_t>(listed_.size());
}

int32_t SentencePieceVocabulary::id_of(std::string_view piece, int32_t sentencepiece_id) const {
  if (listed_.empty()) {
    return sentencepiece_id;
  }
  const auto found = listed_ids_.find(piece);
  return found == listed_ids_.end() ? kUnkId : found->second;
}

// What SentencePiece has no piece for it hands back as it stands in the text, and the list may know it: a letter that
// only the other language has.
std::vector<int32_t> SentencePieceVocabulary::encode_listed(std::string_view text) const {
  std::vector<int32_t> ids;
  const size_t end = text.starts_with(">>") ? text.find("<<") : std::string_view::npos;
  const auto code = end == std::string_view::npos ? listed_ids_.end() : listed_ids_.find(text.substr(0, end + 2));
  if (code != listed_ids_.end()) {
    ids.push_back(code->second);
    text.remove_prefix(end + 2);
  }
  // Sentinels stand between texts that are cut apart.
  for (size_t begin = has_sentinels_ ? text.find(kSentinelBegin) : std::string_view::npos;
       begin != std::string_view::npos;) {
    const size_t last = text.find('>', begin);
    const auto sentinel =
        last == std::string_view::npos ? listed_ids_.end() : listed_ids_.find(text.substr(begin, last + 1 - begin));
    if (sentinel == listed_ids_.end()) {
      begin = text.find(kSentinelBegin, begin + 1);
      continue;
    }
    append_listed(text.substr(0, begin), ids);
    ids.push_back(sentinel->second);
    text.remove_prefix(last + 1);
    begin = text.find(kSentinelBegin);
  }
  append_listed(text, ids);
  return ids;
}

void SentencePieceVocabulary::append_listed(std::string_view text, std::vector<int32_t>& ids) const {
  std::vector<std::string> pieces;
  const auto status = processor_.Encode(text, &pieces);
  base::check_argument(status.ok(), "vocabulary: SentencePiece cannot encode a line of {} bytes: {}", text.size(),
                       status.ToString());
  for (const std::string& piece : pieces) {
    ids.push_back(id_of(piece, kUnkId));
  }
}

// The pieces of ids by the list, as SentencePiece joins them; of the special ones unk alone is seen, and a code at the
// beginning is not, where the list has those of several languages.
std::vector<std::string> SentencePieceVocabulary::spelled(std::span<const int32_t> ids) const {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) {
    if (id > kEosId && !(has_languages_ && pieces.empty() && is_language_piece(listed_[static_cast<size_t>(id)]))) {
      pieces.push_back(listed_[static_cast<size_t>(id)]);
    }
    if (id == kUnkId) {
      pieces.push_back(processor_.IdToPiece(processor_.unk_id()));
    }
  }
  return pieces;
}

const SentencePieceVocabulary::Sampling& SentencePieceVocabulary::sampling() const {
  std::call_once(sampling_once_, [this] { sampling_made_.emplace(make_sampling()); });
  return *sampling_made_;
}

SentencePieceVocabulary::Sampling SentencePieceVocabulary::make_sampling() const {
  std::vector<ScoredPiece> pieces;
  std::vector<int32_t> byte_ids(summary_.byte_fallback ? 256 : 0, kUnkId);
  for (int id = 0; id < processor_.GetPieceSize(); ++id) {
    const std::string& text = processor_.IdToPiece(id);
    if (processor_.IsByte(id)) {
      const std::optional<char> byte = byte_of_piece(text);
      if (byte && !byte_ids.empty()) {
        byte_ids[static_cast<uint8_t>(*byte)] = id_of(text, id);
      }
    } else if (!processor_.IsControl(id) && !processor_.IsUnknown(id) && !processor_.IsUnused(id)) {
      pieces.push_back({text, processor_.GetScore(id), id_of(text, id)});
    }
  }
  const auto kind = summary_.is_bpe ? SubwordSampler::Model::kBpe : SubwordSampler::Model::kUnigram;
  return {.sampler = SubwordSampler(kind, std::move(pieces), kUnkId), .byte_ids = std::move(byte_ids)};
}

void SentencePieceVocabulary::Sampling::append(const SubwordSampler::Segment& segment,
                                               std::vector<int32_t>& ids) const {
  if (segment.id != kUnkId) {
    ids.push_back(segment.id);
  } else if (!byte_ids.empty()) {
    for (const char byte : segment.text) {
      ids.push_back(byte_ids[static_cast<uint8_t>(byte)]);
    }
  } else if (ids.empty() || ids.back() != kUnkId) {  // a run of unknown characters is one unk, as in SentencePiece
    ids.push_back(kUnkId);
  }
}

std::string SentencePieceVocabulary::normalized(std::string_view text) const {
  // SentencePiece 0.1.97 shows its normaliser only through the pieces: they spell the normalised text.
  sentencepiece::ImmutableSentencePieceText cut = processor_.EncodeAsImmutableProto(fit(text));
  std::string spelled;
  for (size_t i = 0; i < cut.pieces_size(); ++i) {
    const auto piece = cut.pieces(static_cast<int>(i));
    if (processor_.IsByte(static_cast<int>(piece.id()))) {
      spelled.push_back(byte_of_piece(piece.piece()).value_or(' '));
    } else {
      spelled.append(piece.piece());
    }
  }
  return spelled;
}

std::vector<int32_t> SentencePieceVocabulary::encode(std::string_view text) const {
  if (!listed_.empty()) {
    return encode_listed(fit(text));
  }
  std::vector<int> ids;
  const auto status = processor_.Encode(fit(text), &ids);
  base::check_argument(status.ok(), "vocabulary: SentencePiece cannot encode a line of {} bytes: {}", text.size(),
                       status.ToString());
  return ids;
}

std::vector<int32_t> SentencePieceVocabulary::encode_sampled(std::string_view text, double alpha,
                                                             base::Random& random) const {
  const std::string spelled_text = normalized(text);
  std::vector<int32_t> ids;
  const Sampling& drawn_from = sampling();
  for (const auto& segment : drawn_from.sampler.sample(spelled_text, alpha, random)) {
    drawn_from.append(segment, ids);
  }
  return ids;
}

std::string SentencePieceVocabulary::decode(std::span<const int32_t> ids) const {
  std::string text;
  const auto status = !listed_.empty() ? processor_.Decode(spelled(ids), &text)
                                       : processor_.Decode(std::vector<int>(ids.begin(), ids.end()), &text);
  base::check_argument(status.ok(), "vocabulary: SentencePiece cannot decode {} ids: {}", ids.size(),
                       status.ToString());
  return as_one_line(!listed_.empty() ? std::string(base::trim(with_plain_spaces(text), " ")) : std::move(text));
}

std::string SentencePieceVocabulary::normalize(std::string_view text) const {
  const std::string plain = with_plain_spaces(normalized(text));
  return plain.starts_with(' ') ? plain.substr(1) : plain;  // the space that SentencePiece puts before every line
}

const std::string& SentencePieceVocabulary::piece(int32_t id) const {
  return !listed_.empty() ? listed_[static_cast<size_t>(id)] : processor_.IdToPiece(id);
}

std::string SentencePieceVocabulary::piece_bytes(int32_t id) const {
  if (id == kUnkId) {
    return kUnknownText;
  }
  if (id <= kEosId) {
    return "";
  }
  const std::string& spelled = piece(id);
  const std::optional<char> byte = summary_.byte_fallback ? byte_of_piece(spelled) : std::nullopt;
  return byte ? std::string(1, *byte) : with_plain_spaces(spelled);
}

int32_t SentencePieceVocabulary::id(std::string_view piece) const {
  if (listed_.empty()) {
    return processor_.PieceToId(piece);
  }
  const auto special = std::find(listed_.begin(), listed_.begin() + kEosId + 1, piece);
  return special <= listed_.begin() + kEosId ? static_cast<int32_t>(special - listed_.begin()) : id_of(piece, kUnkId);
}

}  // namespace dragoman::data
