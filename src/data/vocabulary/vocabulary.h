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

/// The ids of the special pieces, which are equal in all vocabularies.
constexpr int32_t kPadId = 0;
constexpr int32_t kUnkId = 1;
constexpr int32_t kBosId = 2;
constexpr int32_t kEosId = 3;

/// A converter between text and piece ids, with a SentencePiece model. Ids contain no bos and eos; only `encode_source`
/// adds eos.
/// An imported model has a piece list (data/vocabulary/piece_list.h), which numbers its pieces. If a text begins with a
/// language code of the list, such as >>fra<<, the first id is the id of this code.
/// Copies share one model. Threads: any number; the object is immutable.
/// Source: Kudo and Richardson 2018, "SentencePiece".
class Vocabulary {
 public:
  /// Reads a serialised SentencePiece model after `check_sentencepiece_model`.
  /// @param name  the file, for errors
  /// Requires: the SHA-256 hash of `serialized` has been compared with the manifest, because SentencePiece trusts its
  /// input. Throws: Error(kBadData) for a damaged model, a wrong piece list or, without a list, special ids other than
  /// 0, 1, 2, 3, "source.spm: pad, unk, bos, eos are -1, 0, 1, 2, they must be 0, 1, 2, 3; train the vocabulary with
  /// dragoman".
  static Vocabulary from_bytes(std::string_view serialized, std::string_view name);

  /// Reads a file as from_bytes.
  static Vocabulary from_file(const std::filesystem::path& path);

  /// Returns the number of pieces, with the four special ones.
  int32_t size() const;

  /// Returns the best segmentation of one line; empty for blank text. Invalid UTF-8 is repaired first.
  [[nodiscard]] std::vector<int32_t> encode(std::string_view text) const;

  /// Returns a random segmentation, which depends on `text`, `alpha` and `random` alone.
  /// @param alpha  unigram: 0 is uniform, a large value gives the best segmentation; Kudo 2018 uses 0.1 to 0.5.
  ///               BPE: the probability of skipping a merge, 0 for the best segmentation; Provilkov et al. 2020 use
  ///               0.1.
  [[nodiscard]] std::vector<int32_t> encode_sampled(std::string_view text, double alpha, base::Random& random) const;

  /// Returns the text of the ids, which is one line of valid UTF-8. Special pieces are left out, and unk becomes
  /// " \u2047 ". With a piece list the text has no spaces at its ends.
  /// Throws: Error(kRuntime) for an id outside [0, size()).
  [[nodiscard]] std::string decode(std::span<const int32_t> ids) const;

  /// Returns the normalised text that the sub-word model segments, with single spaces. If every character of x is
  /// covered, decode(encode(x)) = normalize(x).
  [[nodiscard]] std::string normalize(std::string_view text) const;

  /// Returns the piece of an id, in which spaces are U+2581. Throws: Error(kRuntime) for an id outside [0, size()).
  const std::string& piece(int32_t id) const;
  /// Returns the piece of each id. Throws: as piece().
  std::vector<std::string> pieces(std::span<const int32_t> ids) const;

  /// Returns the id of a piece, or kUnkId for an unknown piece.
  int32_t id(std::string_view piece) const;

  /// Returns true if a piece list, and not the SentencePiece model, numbers the pieces.
  bool has_piece_list() const;
  bool is_bpe() const;
  bool has_byte_fallback() const;

  /// Return the serialised model, byte for byte as given, and its SHA-256 hash in hexadecimal digits.
  const std::string& bytes() const;
  const std::string& sha256() const;

 private:
  struct Model;
  explicit Vocabulary(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

  std::shared_ptr<const Model> model_;
};

/// The vocabularies of both sides, which are copies of one vocabulary if it is joint.
struct VocabularyPair {
  Vocabulary source;
  Vocabulary target;
};

/// Returns the input of the encoder for one line: the ids of its pieces and eos. Training, scoring and translation all
/// use this function. A blank line gives an empty result without eos and is not translated.
[[nodiscard]] std::vector<int32_t> encode_source(const Vocabulary& vocabulary, std::string_view text);

}  // namespace dragoman::data
