#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace dragoman::data {

/// The special pieces, the same in every vocabulary.
constexpr int32_t kPadId = 0;
constexpr int32_t kUnkId = 1;
constexpr int32_t kBosId = 2;
constexpr int32_t kEosId = 3;

/// Text to piece ids and back, by a SentencePiece model (Kudo and Richardson 2018). Ids never include bos or eos unless
/// the caller adds them; `encode_source` below is the one place that does.
/// A model with a piece list (data/vocabulary/piece_list.h; imported models) numbers pieces as the list does; what is
/// said here of ids is true of both kinds. Text that begins with a language code of the list, such as >>fra<<, gets its
/// id first. Immutable; copies share one model; safe for use by any number of threads.
class Vocabulary {
 public:
  /// Reads a serialised SentencePiece model after `check_sentencepiece_model`.
  /// The caller has compared its SHA-256 with the manifest before: SentencePiece trusts what it parses.
  /// @param name  the file named in errors. Throws Error(kBadData): damaged, a bad piece list, or without one special
  /// ids other than 0, 1, 2, 3: "source.spm: pad, unk, bos, eos are -1, 0, 1, 2, they must be 0, 1, 2, 3; train the
  /// vocabulary with dragoman".
  static Vocabulary from_bytes(std::string_view serialized, std::string_view name);

  /// from_bytes of a whole file.
  static Vocabulary from_file(const std::filesystem::path& path);

  /// Pieces, the four special ones included.
  int32_t size() const;

  /// The best cut of one line; empty for blank text. Any bytes are accepted (repaired first).
  std::vector<int32_t> encode(std::string_view text) const;

  /// A random cut, drawn with `random` alone. @param alpha  unigram: smoothing (0 = uniform, large = best cut; Kudo
  /// 2018 uses 0.1 to 0.5); BPE: probability of skipping a merge (0 = the best cut; Provilkov 2020 use 0.1).
  std::vector<int32_t> encode_sampled(std::string_view text, double alpha, base::Random& random) const;

  /// Text of the ids: always one line of valid UTF-8. Special pieces vanish, unk becomes " \u2047 ". With a piece list
  /// without spaces at both ends.
  /// Throws Error(kRuntime) for an id outside [0, size()).
  std::string decode(std::span<const int32_t> ids) const;

  /// `text` as the sub-word model sees it: normalised, white space squeezed. decode(encode(x)) = normalize(x) when
  /// every character is covered.
  std::string normalize(std::string_view text) const;

  /// The piece of an id; spaces are U+2581. Throws Error(kRuntime) for an id outside [0, size()).
  const std::string& piece(int32_t id) const;

  /// The id of a piece, kUnkId when there is none.
  int32_t id(std::string_view piece) const;

  /// True when ids follow a piece list and not the order of the SentencePiece model.
  bool has_piece_list() const;
  bool is_bpe() const;
  bool has_byte_fallback() const;

  /// The serialised model, byte for byte as given, and its SHA-256 in hexadecimal.
  const std::string& bytes() const;
  const std::string& sha256() const;

 private:
  struct Model;
  explicit Vocabulary(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

  std::shared_ptr<const Model> model_;
};

/// The vocabularies of both sides; the same one twice when joint.
struct VocabularyPair {
  Vocabulary source;
  Vocabulary target;
};

/// What the encoder reads for a line: its pieces, then eos. Training, scoring and translation all use this one.
/// An empty result (no eos) means blank text, which is not translated at all.
std::vector<int32_t> encode_source(const Vocabulary& vocabulary, std::string_view text);

}  // namespace dragoman::data
