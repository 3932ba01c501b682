#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace dragoman::interop {

/// Returns the model with its pieces in another order: piece i is the former piece order[i]. All else stays.
[[nodiscard]] std::string with_spm_order(std::string_view spm, const std::vector<int64_t>& order,
                                         std::string_view file_name);

/// The ids of special pieces in another program.
struct SpecialPieces {
  int64_t pad = 0;
  int64_t unk = 0;
  int64_t start = 0;  ///< what the decoder begins with
  int64_t eos = 0;
};

/// The pieces of a model in the order of dragoman's ids, which are <pad>, <unk>, <s>, </s> and all others.
struct PieceOrder {
  std::vector<std::string> pieces;
  std::vector<int64_t> theirs;  ///< the id of each in the other program; two of ours may be one of theirs
};

/// Orders the pieces of another program. @param theirs  its pieces by id
/// Our <s> is the piece that its decoder begins with; if that is a special piece, it has two ids here.
[[nodiscard]] PieceOrder order_pieces(const std::vector<std::string>& theirs, const SpecialPieces& special);

/// Returns the SentencePiece model with a list of `pieces`, by which dragoman numbers them.
/// Throws: Error(kBadData) if a piece occurs twice, or SentencePiece refuses the model.
[[nodiscard]] std::string with_order(std::string_view spm, const PieceOrder& order, const std::string& file_name);

/// How the name of a row without a piece begins, and the name of the row of an id.
inline constexpr const char* kNoPieceBegin = "<no_piece_";
[[nodiscard]] std::string no_piece(size_t id);

/// An output bias that makes a probability zero. It is finite, as all values of a model must be.
inline constexpr float kNever = -1e9F;

/// Returns the rows of a table [V, D] for our ids.
[[nodiscard]] tensor::Tensor rows_in_order(const tensor::Tensor& table, const PieceOrder& order);

/// Returns the output bias for our ids. An <s> that is a second id of a special piece gets the bias kNever.
/// @param theirs  [V]; undefined for zeros
[[nodiscard]] tensor::Tensor bias_in_order(const tensor::Tensor& theirs, const PieceOrder& order);

}  // namespace dragoman::interop
