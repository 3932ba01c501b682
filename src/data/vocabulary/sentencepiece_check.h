#pragma once

#include <cstdint>
#include <string_view>

namespace dragoman::data {

/// The properties of a checked SentencePiece model.
struct SentencePieceSummary {
  int64_t pieces = 0;
  int64_t longest_piece_bytes = 0;
  bool is_bpe = false;         ///< otherwise unigram
  bool byte_fallback = false;  ///< unknown characters become byte pieces
};

constexpr uint64_t kMaxModelBytes = uint64_t{64} << 20;  ///< largest serialised SentencePiece model
constexpr int64_t kMaxPieces = 1'000'000;
constexpr size_t kMaxPieceBytes = 4096;

/// Checks a serialised SentencePiece model, a protocol buffer, before SentencePiece parses it. SentencePiece 0.1.97
/// reads out of bounds on hostile pieces and normalisation tables. The rules are:
///   - well-formed wire format of at most 64 MiB;
///   - 5 to 1,000,000 pieces of 1 to 4,096 bytes of valid UTF-8 without NUL, with finite scores;
///   - type unigram or BPE;
///   - every step of the normalisation trie stays inside the table.
/// Allocates almost no memory.
/// @param name  the file, for errors
/// Throws: Error(kBadData), "source.spm: piece 17 has 500000 bytes, at most 4096 are allowed; the file is damaged or
/// hostile".
/// Source: sentencepiece_model.proto of SentencePiece 0.1.97; Darts-clone 0.32 for the trie units.
SentencePieceSummary check_sentencepiece_model(std::string_view serialized, std::string_view name);

}  // namespace dragoman::data
