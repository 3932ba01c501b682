#include "data/vocabulary/vocabulary.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "data/vocabulary/one_line.h"
#include "data/vocabulary/sentencepiece_vocabulary.h"
#include "data/vocabulary/tokenizer_json.h"
#include "data/vocabulary/tokenizer_vocabulary.h"

namespace dragoman::data {
namespace {

bool is_json(std::string_view serialized) {
  return serialized.starts_with('{');
}

void check_special(const SpecialIds& special, int32_t size) {
  for (const int32_t id : {special.pad, special.unk, special.bos}) {
    base::check_usage(id >= -1 && id < size, "vocabulary: special id {} was given, must be 0 to {}, or -1 for none", id,
                      size - 1);
  }
  for (const int32_t id : special.eos) {
    base::check_usage(id >= 0 && id < size, "vocabulary: eos id {} was given, must be 0 to {}", id, size - 1);
  }
}

}  // namespace

Vocabulary::Vocabulary(std::shared_ptr<const VocabularyModel> model)
    : model_(std::move(model)), sha256_(std::make_shared<std::string>(base::sha256_hex(model_->bytes()))) {}

Vocabulary Vocabulary::from_bytes(std::string_view serialized, std::string_view name) {
  if (is_json(serialized)) {
    return Vocabulary(std::make_shared<TokenizerVocabulary>(serialized, name));
  }
  return Vocabulary(std::make_shared<SentencePieceVocabulary>(serialized, name));
}

Vocabulary Vocabulary::from_file(const std::filesystem::path& path) {
  return from_bytes(base::read_file(path, kMaxModelBytes), path.string());
}

Vocabulary::Format Vocabulary::format() const {
  return is_json(bytes()) ? Format::kTokenizerJson : Format::kSentencePiece;
}

int32_t Vocabulary::size() const {
  return model_->size();
}

const SpecialIds& Vocabulary::special() const {
  return model_->special();
}

const TextFrame& Vocabulary::frame() const {
  return model_->frame();
}

Vocabulary Vocabulary::with_special(const SpecialIds& special) const {
  if (special == model_->special()) {
    return *this;
  }
  base::check_usage(format() == Format::kTokenizerJson,
                    "vocabulary: the special ids of a SentencePiece model are 0, 1, 2 and 3; they cannot be changed");
  check_special(special, size());
  return from_bytes(with_special_ids(bytes(), special), "tokenizer.json");
}

bool Vocabulary::adds_bos() const {
  return model_->traits().adds_bos;
}

std::vector<int32_t> Vocabulary::encode(std::string_view text) const {
  return model_->encode(text);
}

std::vector<int32_t> Vocabulary::encode_checked(std::string_view text, std::string_view owner) const {
  if (const std::optional<char32_t> lost = model_->first_lost(text)) {
    base::fail(base::ErrorKind::kBadData,
               "{}: U+{:04X} is not in the vocabulary of {} {}; leave it out, or train with a text that has it", owner,
               static_cast<uint32_t>(*lost), size(), model_->traits().has_merges ? "pieces" : "characters");
  }
  return model_->encode(text);
}

std::vector<int32_t> Vocabulary::encode_sampled(std::string_view text, double alpha, base::Random& random) const {
  return model_->encode_sampled(text, alpha, random);
}

std::string Vocabulary::decode(std::span<const int32_t> ids) const {
  for (const int32_t id : ids) {
    check_id(id);
  }
  return model_->decode(ids);
}

std::string Vocabulary::piece_bytes(int32_t id) const {
  check_id(id);
  return model_->piece_bytes(id);
}

std::string Vocabulary::decode_bytes(std::span<const int32_t> ids) const {
  std::string bytes;
  for (const int32_t id : ids) {
    bytes += piece_bytes(id);
  }
  return bytes;
}

std::string Vocabulary::normalize(std::string_view text) const {
  return model_->normalize(text);
}

void Vocabulary::check_id(int32_t id) const {
  base::check_argument(
      id >= 0 && id < size(),
      "vocabulary: id {} was asked for, ids are 0 to {}; was the model trained with another vocabulary?", id,
      size() - 1);
}

const std::string& Vocabulary::piece(int32_t id) const {
  check_id(id);
  return model_->piece(id);
}

std::vector<std::string> Vocabulary::pieces(std::span<const int32_t> ids) const {
  std::vector<std::string> pieces;
  for (const int32_t id : ids) {
    pieces.push_back(piece(id));
  }
  return pieces;
}

int32_t Vocabulary::id(std::string_view piece) const {
  return model_->id(piece);
}

bool Vocabulary::has_piece_list() const {
  return model_->traits().has_piece_list;
}

bool Vocabulary::is_bpe() const {
  return model_->traits().is_bpe;
}

bool Vocabulary::has_byte_fallback() const {
  return model_->traits().has_byte_fallback;
}

const std::string& Vocabulary::bytes() const {
  return model_->bytes();
}

const std::string& Vocabulary::sha256() const {
  return *sha256_;
}

std::string decode_line(const Vocabulary& vocabulary, std::span<const int32_t> ids) {
  return as_one_line(vocabulary.decode(ids));
}

std::vector<int32_t> encode_source(const Vocabulary& vocabulary, std::string_view text) {
  std::vector<int32_t> ids = vocabulary.encode(text);
  const std::vector<int32_t>& eos = vocabulary.special().eos;
  if (!ids.empty() && !eos.empty()) {
    ids.push_back(eos.front());
  }
  if (const int32_t first = vocabulary.frame().first; !ids.empty() && first >= 0) {
    ids.insert(ids.begin(), first);
  }
  return ids;
}

}  // namespace dragoman::data
