#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::data {

/// One piece of a SentencePiece model.
struct SpmPiece {
  enum Type : uint64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

  std::string text;
  uint64_t type = kNormal;  ///< SentencePiece.Type
};

/// Returns the pieces of a SentencePiece model in the order of its ids.
/// Throws: Error(kBadData) for a damaged file.
[[nodiscard]] std::vector<SpmPiece> spm_pieces(std::string_view spm, std::string_view file_name);

/// Returns the pieces that a model writes: all but control pieces, <unk> and unused ones. Throws: as spm_pieces.
[[nodiscard]] std::vector<std::string> written_pieces(std::string_view spm, std::string_view file_name);

}  // namespace dragoman::data
