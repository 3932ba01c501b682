#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/gemm/packed_matrix.h"

namespace dragoman::kernels {

/// What a search needs of one row of logits when it forbids nothing but a few known tokens.
struct BestRow {
  std::span<const float> values;  ///< [k] the largest logits, falling
  std::span<const int32_t> ids;   ///< [k] of these; equal logits by rising id
  double log_sum_exp;             ///< of the whole row: log p(id) = logit - this; the largest logit if not wanted
};

/// The same of all rows. Kept by the caller, so that its memory is used again.
class BestLogits {
 public:
  /// Rows are to hold the k largest logits and the log-sum-exp from now on, as at first.
  void want_log_sums() { chosen_from_ = 0; }
  /// From now on there is only a choice to be made, and no log-sum-exp. Rows hold the largest logit of the tokens from
  /// `first` on and, of those before, each that is larger: first + 1 entries at least, not all of them the largest.
  /// @param first  at least 1
  void want_choice(int32_t first) { chosen_from_ = first; }
  /// Room for `rows` rows of k entries each.
  void resize(int64_t rows, int k);
  int k() const { return k_; }
  /// The first token of the choice; 0 where log-sum-exps are wanted instead.
  int32_t choice_from() const { return chosen_from_; }
  size_t rows() const { return log_sums_.size(); }
  BestRow row(size_t index) const;
  /// Fills a row from logits of which the i-th is that of token ids[i], rising, or of token i for no ids. With fewer
  /// than k of them the rest of the row are tokens 0 of minus infinity.
  void take_row(size_t index, std::span<const float> logits, std::span<const int32_t> ids);

 private:
  friend void best_of_matrix(const Tensor& x, const PackedMatrix& matrix, const Tensor& bias, int k, BestLogits& best);

  bool log_sums_wanted() const { return chosen_from_ == 0; }

  int k_ = 0;
  int32_t chosen_from_ = 0;       // 0: no choice
  std::vector<float> values_;     // [rows, k]
  std::vector<int32_t> ids_;      // [rows, k]
  std::vector<double> log_sums_;  // [rows]
};

/// The k largest of each row of logits = x W + bias and its log-sum-exp. The logits are computed a part of the columns
/// at a time and read while they are in the cache; they are never stored.
/// @param x  [R, D];  @param matrix  W [D, V];  @param bias  [V], undefined for none;  @param k  at least 1; at most V
/// are given
/// The bits are those of `best_of_rows` of the whole product, and those of a row do not depend on the other rows.
void best_of_matrix(const Tensor& x, const PackedMatrix& matrix, const Tensor& bias, int k, BestLogits& best);

/// The k largest of each row of logits [R, V] float32 and its log-sum-exp.
void best_of_rows(const Tensor& logits, int k, BestLogits& best);

}  // namespace dragoman::kernels
