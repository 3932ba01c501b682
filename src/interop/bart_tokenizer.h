#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "interop/piece_order.h"

namespace dragoman::interop {

/// Our <s> in the tokenizer of a BART: a second id of </s>, with which its decoder begins; <s> itself is another piece.
inline constexpr const char* kBartStartPiece = "<start>";

/// Returns the tokenizer.json of a BART with dragoman's ids, and <start> among its pieces.
/// @param order  of its pieces; @param file  for errors
/// Requires: `text` has been read as a vocabulary
[[nodiscard]] std::string bart_tokenizer_for_import(std::string_view text, const PieceOrder& order,
                                                    const std::string& file);

/// Returns the tokenizer.json with the ids of a BART, the inverse.
/// @param ours  our id of each of theirs; without the id of <start>, this piece is left out
[[nodiscard]] std::string bart_tokenizer_for_export(std::string_view text, const std::vector<int64_t>& ours,
                                                    const std::string& file);

}  // namespace dragoman::interop
