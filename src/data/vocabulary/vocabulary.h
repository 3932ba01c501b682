#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "data/vocabulary/special_ids.h"

namespace dragoman::data {

class VocabularyModel;

/// A converter between text and piece ids. There are two kinds. A SentencePiece model serves one line at a time. A
/// tokenizer.json file, which the `tokenizers` package writes, serves whole texts of language models. The kinds share
/// this interface; where they differ, "with tokenizer.json" says how.
///
/// Ids contain no bos and eos; only `encode_source` adds eos.
/// An imported model may have a piece list (data/vocabulary/piece_list.h), which numbers its pieces. If a text begins
/// with a language code of the list, such as >>fra<<, the first id is the id of this code.
/// Copies share one model. Threads: any number; the object is immutable.
/// Source: Kudo and Richardson 2018, "SentencePiece"; Sennrich et al. 2016, "Neural Machine Translation of Rare Words
/// with Subword Units"; Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.2.
class Vocabulary {
 public:
  enum class Format { kSentencePiece, kTokenizerJson };

  /// Reads a serialised SentencePiece model after `check_sentencepiece_model` or, if the first byte is '{', the text of
  /// a tokenizer.json.
  /// @param name  the file, for errors
  /// Requires: the SHA-256 hash of a SentencePiece model has been compared with the manifest, because SentencePiece
  /// trusts its input. Throws: Error(kBadData) for a damaged model, a wrong piece list or, without a list, special ids
  /// other than 0, 1, 2, 3, "source.spm: pad, unk, bos, eos are -1, 0, 1, 2, they must be 0, 1, 2, 3; train the
  /// vocabulary with dragoman"; and as read_tokenizer_json.
  static Vocabulary from_bytes(std::string_view serialized, std::string_view name);

  /// Reads a file as from_bytes.
  static Vocabulary from_file(const std::filesystem::path& path);

  Format format() const;

  /// Returns the number of pieces, with the special ones.
  int32_t size() const;

  /// Returns the ids of the special pieces. With SentencePiece they are 0, 1, 2 and 3. With tokenizer.json they are
  /// those of `with_special` or, without it, those of the added tokens with the usual names: <|endoftext|>, <s>, </s>
  /// and so on.
  const SpecialIds& special() const;

  /// The ids that the file of the vocabulary puts around texts; `encode` leaves them out.
  const TextFrame& frame() const;

  /// Returns this vocabulary with other special ids, for models whose configuration names them. `bytes` then hold the
  /// ids. Throws: Error(kUsage) for an id outside [-1, size()), or if a SentencePiece model has other special ids.
  [[nodiscard]] Vocabulary with_special(const SpecialIds& special) const;

  /// Returns true if the file asks for bos before each text. `encode` leaves it out.
  bool adds_bos() const;

  /// Returns the best segmentation of one line; empty for blank text. Invalid UTF-8 is repaired first. With
  /// tokenizer.json: of a text of any number of lines; added tokens in the text get their ids, and characters without a
  /// piece become unk or, without an unk, are left out, as by the `tokenizers` package.
  [[nodiscard]] std::vector<int32_t> encode(std::string_view text) const;

  /// As `encode`, but refuses to leave out characters. @param owner  of the text, for errors
  /// Throws: Error(kBadData), "prompt: U+4E2D is not in the vocabulary of 65 characters; ...".
  [[nodiscard]] std::vector<int32_t> encode_checked(std::string_view text, std::string_view owner) const;

  /// Returns a random segmentation, which depends on `text`, `alpha` and `random` alone.
  /// @param alpha  unigram: 0 is uniform, a large value gives the best segmentation; Kudo 2018 uses 0.1 to 0.5.
  ///               BPE: the probability of skipping a merge, 0 for the best segmentation; Provilkov et al. 2020 use
  ///               0.1. With tokenizer.json: 0. Throws: Error(kUsage) for another value with tokenizer.json.
  [[nodiscard]] std::vector<int32_t> encode_sampled(std::string_view text, double alpha, base::Random& random) const;

  /// Returns the text of the ids, which is one line of valid UTF-8. Special pieces are left out, and unk becomes
  /// " \u2047 ". With a piece list the text has no spaces at its ends. With tokenizer.json the text may have several
  /// lines, invalid bytes become U+FFFD, and unk is the text of its piece.
  /// Throws: Error(kRuntime) for an id outside [0, size()).
  [[nodiscard]] std::string decode(std::span<const int32_t> ids) const;

  /// Returns the bytes that a piece adds to a text that goes on; empty for special pieces. They may be a part of a
  /// character. Throws: as piece().
  [[nodiscard]] std::string piece_bytes(int32_t id) const;
  /// Returns the `piece_bytes` of all ids. Unlike in `decode`, a space before the first word stays, and nothing is
  /// repaired. Throws: as piece().
  [[nodiscard]] std::string decode_bytes(std::span<const int32_t> ids) const;

  /// Returns the normalised text that the sub-word model segments, with single spaces. If every character of x is
  /// covered, decode(encode(x)) = normalize(x). With tokenizer.json spaces stay as the file leaves them, and the
  /// equation holds for x without special tokens.
  [[nodiscard]] std::string normalize(std::string_view text) const;

  /// Returns the piece of an id, in which spaces are U+2581; with tokenizer.json as the file writes it. Throws:
  /// Error(kRuntime) for an id outside [0, size()).
  const std::string& piece(int32_t id) const;
  /// Returns the piece of each id. Throws: as piece().
  std::vector<std::string> pieces(std::span<const int32_t> ids) const;

  /// Returns the id of a piece, or special().unk for an unknown piece.
  int32_t id(std::string_view piece) const;

  /// Returns true if a piece list, and not the SentencePiece model, numbers the pieces.
  bool has_piece_list() const;
  bool is_bpe() const;
  bool has_byte_fallback() const;

  /// Return the serialised model, byte for byte as given, and its SHA-256 hash in hexadecimal digits.
  const std::string& bytes() const;
  const std::string& sha256() const;

 private:
  explicit Vocabulary(std::shared_ptr<const VocabularyModel> model);
  void check_id(int32_t id) const;

  std::shared_ptr<const VocabularyModel> model_;
  std::shared_ptr<const std::string> sha256_;
};

/// Returns the text of the ids as one line: what `decode` gives, with a space for each line break and NUL.
[[nodiscard]] std::string decode_line(const Vocabulary& vocabulary, std::span<const int32_t> ids);

/// The vocabularies of both sides, which are copies of one vocabulary if it is joint.
struct VocabularyPair {
  Vocabulary source;
  Vocabulary target;
};

/// Returns the input of the encoder for one line: the ids of its pieces and eos, behind the first id of the frame if
/// the vocabulary has one. Training, scoring and translation all use this function. A blank line gives an empty result
/// without eos and is not translated.
[[nodiscard]] std::vector<int32_t> encode_source(const Vocabulary& vocabulary, std::string_view text);

}  // namespace dragoman::data
