#include "data/vocabulary/vocabulary.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/ascii.h"
#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"
#include "data/vocabulary/piece_list.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "data/vocabulary/subword_sampler.h"

namespace dragoman::data {
namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581, how pieces spell a space

// The value of a byte piece such as "<0x0A>".
std::optional<char> byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') {
    return std::nullopt;
  }
  return static_cast<char>(std::stoi(std::string(piece.substr(3, 2)), nullptr, 16));
}

// Nothing that a sub-word model decodes may end a line or a C string: bytes pieces can spell LF, CR and NUL.
std::string as_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  return base::is_valid_utf8(text) ? text : base::repair_utf8(text);
}

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

struct Vocabulary::Model {
  // The sampler of random segmentations.
  struct Sampling {
    SubwordSampler sampler;
    std::vector<int32_t> byte_ids;  // [256] when unknown characters become bytes, otherwise empty

    void append(const SubwordSampler::Segment& segment, std::vector<int32_t>& ids) const;
  };

  std::string serialized;
  std::string sha256;
  SentencePieceSummary summary;
  sentencepiece::SentencePieceProcessor processor;
  std::vector<std::string> listed;  // [size] the piece list; may be empty
  std::unordered_map<std::string_view, int32_t> listed_ids;
  mutable std::once_flag sampling_once;  // created on the first request; translation never needs it
  mutable std::optional<Sampling> sampling_made;

  void check_special_ids(std::string_view name) const;
  void read_list(std::string_view name);
  int32_t size() const;
  // The id that a piece of SentencePiece is read as.
  int32_t id_of(std::string_view piece, int32_t sentencepiece_id) const;
  std::vector<int32_t> encode_listed(std::string_view text) const;
  std::vector<std::string> spelled(std::span<const int32_t> ids) const;
  const Sampling& sampling() const;
  Sampling make_sampling() const;
  // The text as the pieces spell it, spaces as U+2581.
  std::string normalized(std::string_view text) const;
  void check_id(int32_t id) const;
};

void Vocabulary::Model::check_special_ids(std::string_view name) const {
  const int pad = processor.pad_id(), unk = processor.unk_id(), bos = processor.bos_id(), eos = processor.eos_id();
  base::check_data(
      pad == kPadId && unk == kUnkId && bos == kBosId && eos == kEosId,
      "{}: pad, unk, bos, eos are {}, {}, {}, {}, they must be 0, 1, 2, 3; train the vocabulary with dragoman", name,
      pad, unk, bos, eos);
}

void Vocabulary::Model::read_list(std::string_view name) {
  listed = read_piece_list(serialized, name);
  for (size_t id = kEosId + 1; id < listed.size(); ++id) {
    listed_ids.emplace(listed[id], static_cast<int32_t>(id));
  }
}

int32_t Vocabulary::Model::size() const {
  return listed.empty() ? processor.GetPieceSize() : static_cast<int32_t>(listed.size());
}

int32_t Vocabulary::Model::id_of(std::string_view piece, int32_t sentencepiece_id) const {
  if (listed.empty()) {
    return sentencepiece_id;
  }
  const auto found = listed_ids.find(piece);
  return found == listed_ids.end() ? kUnkId : found->second;
}

// What SentencePiece has no piece for it hands back as it stands in the text, and the list may know it: a letter that
// only the other language has.
std::vector<int32_t> Vocabulary::Model::encode_listed(std::string_view text) const {
  std::vector<int32_t> ids;
  const size_t end = text.starts_with(">>") ? text.find("<<") : std::string_view::npos;
  const auto code = end == std::string_view::npos ? listed_ids.end() : listed_ids.find(text.substr(0, end + 2));
  if (code != listed_ids.end()) {
    ids.push_back(code->second);
    text.remove_prefix(end + 2);
  }
  std::vector<std::string> pieces;
  const auto status = processor.Encode(text, &pieces);
  base::check_argument(status.ok(), "vocabulary: SentencePiece cannot encode a line of {} bytes: {}", text.size(),
                       status.ToString());
  for (const std::string& piece : pieces) {
    ids.push_back(id_of(piece, kUnkId));
  }
  return ids;
}

// The pieces of ids by the list, as SentencePiece joins them; of the special ones unk alone is seen.
std::vector<std::string> Vocabulary::Model::spelled(std::span<const int32_t> ids) const {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) {
    if (id > kEosId) {
      pieces.push_back(listed[static_cast<size_t>(id)]);
    }
    if (id == kUnkId) {
      pieces.push_back(processor.IdToPiece(processor.unk_id()));
    }
  }
  return pieces;
}

const Vocabulary::Model::Sampling& Vocabulary::Model::sampling() const {
  std::call_once(sampling_once, [this] { sampling_made.emplace(make_sampling()); });
  return *sampling_made;
}

Vocabulary::Model::Sampling Vocabulary::Model::make_sampling() const {
  std::vector<ScoredPiece> pieces;
  std::vector<int32_t> byte_ids(summary.byte_fallback ? 256 : 0, kUnkId);
  for (int id = 0; id < processor.GetPieceSize(); ++id) {
    const std::string& text = processor.IdToPiece(id);
    if (processor.IsByte(id)) {
      const std::optional<char> byte = byte_of_piece(text);
      if (byte && !byte_ids.empty()) {
        byte_ids[static_cast<uint8_t>(*byte)] = id_of(text, id);
      }
    } else if (!processor.IsControl(id) && !processor.IsUnknown(id) && !processor.IsUnused(id)) {
      pieces.push_back({text, processor.GetScore(id), id_of(text, id)});
    }
  }
  const auto kind = summary.is_bpe ? SubwordSampler::Model::kBpe : SubwordSampler::Model::kUnigram;
  return {.sampler = SubwordSampler(kind, std::move(pieces), kUnkId), .byte_ids = std::move(byte_ids)};
}

void Vocabulary::Model::Sampling::append(const SubwordSampler::Segment& segment, std::vector<int32_t>& ids) const {
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

std::string Vocabulary::Model::normalized(std::string_view text) const {
  // SentencePiece 0.1.97 shows its normaliser only through the pieces: they spell the normalised text.
  sentencepiece::ImmutableSentencePieceText cut = processor.EncodeAsImmutableProto(fit(text));
  std::string spelled;
  for (size_t i = 0; i < cut.pieces_size(); ++i) {
    const auto piece = cut.pieces(static_cast<int>(i));
    if (processor.IsByte(static_cast<int>(piece.id()))) {
      spelled.push_back(byte_of_piece(piece.piece()).value_or(' '));
    } else {
      spelled.append(piece.piece());
    }
  }
  return spelled;
}

void Vocabulary::Model::check_id(int32_t id) const {
  base::check_argument(
      id >= 0 && id < size(),
      "vocabulary: id {} was asked for, ids are 0 to {}; was the model trained with another vocabulary?", id,
      size() - 1);
}

Vocabulary Vocabulary::from_bytes(std::string_view serialized, std::string_view name) {
  auto model = std::make_shared<Model>();
  model->summary = check_sentencepiece_model(serialized, name);
  const auto status = model->processor.LoadFromSerializedProto(serialized);
  base::check_data(status.ok(), "{}: SentencePiece refuses it: {}; train the vocabulary again", name,
                   status.ToString());
  model->serialized = serialized;
  model->sha256 = base::sha256_hex(serialized);
  model->read_list(name);
  if (model->listed.empty()) {
    model->check_special_ids(name);
  }
  return Vocabulary(std::move(model));
}

Vocabulary Vocabulary::from_file(const std::filesystem::path& path) {
  return from_bytes(base::read_file(path, kMaxModelBytes), path.string());
}

int32_t Vocabulary::size() const {
  return model_->size();
}

std::vector<int32_t> Vocabulary::encode(std::string_view text) const {
  if (has_piece_list()) {
    return model_->encode_listed(fit(text));
  }
  std::vector<int> ids;
  const auto status = model_->processor.Encode(fit(text), &ids);
  base::check_argument(status.ok(), "vocabulary: SentencePiece cannot encode a line of {} bytes: {}", text.size(),
                       status.ToString());
  return ids;
}

std::vector<int32_t> Vocabulary::encode_sampled(std::string_view text, double alpha, base::Random& random) const {
  const std::string normalized = model_->normalized(text);
  std::vector<int32_t> ids;
  const Model::Sampling& sampling = model_->sampling();
  for (const auto& segment : sampling.sampler.sample(normalized, alpha, random)) {
    sampling.append(segment, ids);
  }
  return ids;
}

std::string Vocabulary::decode(std::span<const int32_t> ids) const {
  for (const int32_t id : ids) {
    model_->check_id(id);
  }
  std::string text;
  const auto status = has_piece_list() ? model_->processor.Decode(model_->spelled(ids), &text)
                                       : model_->processor.Decode(std::vector<int>(ids.begin(), ids.end()), &text);
  base::check_argument(status.ok(), "vocabulary: SentencePiece cannot decode {} ids: {}", ids.size(),
                       status.ToString());
  return as_one_line(has_piece_list() ? std::string(base::trim(with_plain_spaces(text), " ")) : std::move(text));
}

std::string Vocabulary::normalize(std::string_view text) const {
  const std::string plain = with_plain_spaces(model_->normalized(text));
  return plain.starts_with(' ') ? plain.substr(1) : plain;  // the space that SentencePiece puts before every line
}

const std::string& Vocabulary::piece(int32_t id) const {
  model_->check_id(id);
  return has_piece_list() ? model_->listed[static_cast<size_t>(id)] : model_->processor.IdToPiece(id);
}

std::vector<std::string> Vocabulary::pieces(std::span<const int32_t> ids) const {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) {
    pieces.push_back(piece(id));
  }
  return pieces;
}

int32_t Vocabulary::id(std::string_view piece) const {
  if (!has_piece_list()) {
    return model_->processor.PieceToId(piece);
  }
  const auto& listed = model_->listed;
  const auto special = std::find(listed.begin(), listed.begin() + kEosId + 1, piece);
  return special <= listed.begin() + kEosId ? static_cast<int32_t>(special - listed.begin())
                                            : model_->id_of(piece, kUnkId);
}

bool Vocabulary::has_piece_list() const {
  return !model_->listed.empty();
}

bool Vocabulary::is_bpe() const {
  return model_->summary.is_bpe;
}

bool Vocabulary::has_byte_fallback() const {
  return model_->summary.byte_fallback;
}

const std::string& Vocabulary::bytes() const {
  return model_->serialized;
}

const std::string& Vocabulary::sha256() const {
  return model_->sha256;
}

std::vector<int32_t> encode_source(const Vocabulary& vocabulary, std::string_view text) {
  std::vector<int32_t> ids = vocabulary.encode(text);
  if (!ids.empty()) {
    ids.push_back(kEosId);
  }
  return ids;
}

}  // namespace dragoman::data
