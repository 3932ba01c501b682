#pragma once

#include <cstdint>
#include <string_view>

namespace dragoman::data {

/// What the check of a SentencePiece model found on its way.
struct SentencePieceSummary {
  int64_t pieces = 0;
  int64_t longest_piece_bytes = 0;
  bool is_bpe = false;         ///< else unigram
  bool byte_fallback = false;  ///< unknown characters become byte pieces
};

constexpr uint64_t kMaxModelBytes = uint64_t{64} << 20;  ///< of a serialised SentencePiece model
constexpr int64_t kMaxPieces = 1'000'000;
constexpr size_t kMaxPieceBytes = 4096;

/// Checks a serialised SentencePiece model (a protocol buffer) before SentencePiece itself may parse it: SentencePiece
/// 0.1.97 reads out of bounds on hostile pieces and normalisation tables. Rules: well-formed wire format; at most
/// 64 MiB; 5 to 1,000,000 pieces of 1 to 4,096 bytes of valid UTF-8 without NUL; finite scores; type unigram or BPE;
/// every step of the normalisation trie inside the table.
/// Allocates next to nothing. @param name  the file named in errors.
/// Throws Error(kBadData): "source.spm: piece 17 has 500000 bytes, at most 4096 are allowed; the file is damaged or
/// hostile". Source: sentencepiece_model.proto of SentencePiece 0.1.97; Darts-clone 0.32 for the trie units.
SentencePieceSummary check_sentencepiece_model(std::string_view serialized, std::string_view name);

}  // namespace dragoman::data
