#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/context.h"
#include "tensor/tensor.h"

namespace dragoman::models {

using tensor::Tensor;

/// One side of a ragged batch as tensors. No padding: sentence b is rows offsets[b] .. offsets[b + 1].
struct TokenRows {
  Tensor ids;              ///< [N] int32
  nn::RaggedRows rows;     ///< offsets [B + 1], positions [N]
  Tensor segments = {};    ///< [N] int32, which text of its input a row belongs to, for encoders; undefined = all 0
  Tensor chosen = {};      ///< [K] int32, the rows of an encoder that the head predicts from; undefined = all
  int64_t first_text = 0;  ///< number of the first text within the whole update, as RaggedRows::first_row of rows
};

/// The sentences of a ragged batch before they are tensors.
struct FlatIds {
  std::vector<int32_t> ids;            ///< [N]
  std::vector<int32_t> offsets = {0};  ///< [B + 1]

  void append(std::span<const int32_t> more) { ids.insert(ids.end(), more.begin(), more.end()); }
  void end_sentence() { offsets.push_back(static_cast<int32_t>(ids.size())); }
};

/// Builds TokenRows from ids and offsets; positions count from 0 in each sentence.
TokenRows make_token_rows(std::span<const int32_t> ids, std::span<const int32_t> offsets, int64_t first_row = 0);

inline TokenRows make_token_rows(const FlatIds& flat) {
  return make_token_rows(flat.ids, flat.offsets);
}

/// Returns: TokenRows::segments of texts. @param second_begins  [B] where the second text of an input begins; 0 = there
/// is one text
std::vector<int32_t> segments_of(std::span<const int32_t> second_begins, std::span<const int32_t> offsets);
/// Returns: TokenRows::chosen. @param chosen  [K] rows of their own text;  @param chosen_offsets  [B + 1], which of
/// them belong to which text
std::vector<int32_t> rows_of_all(std::span<const int32_t> chosen, std::span<const int32_t> chosen_offsets,
                                 std::span<const int32_t> offsets);

/// TokenRows of one step of generation, without sentences. @param ids, positions  [R] int32
inline TokenRows step_token_rows(const Tensor& ids, const Tensor& positions) {
  TokenRows rows;
  rows.ids = ids;
  rows.rows.positions = positions;
  return rows;
}

/// TokenRows of a batch of one sentence.
TokenRows one_sentence(std::span<const int32_t> ids);

}  // namespace dragoman::models
