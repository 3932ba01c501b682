#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/gemm/packed_matrix.h"

namespace dragoman::kernels {

/// The part of one row of logits that a search needs if it forbids only a few known tokens.
struct BestRow {
  std::span<const float> values;  ///< [k] the largest logits, in falling order
  std::span<const int32_t> ids;   ///< [k] their token ids; equal logits stand in the order of their ids
  double log_sum_exp;  ///< of the whole row: log p(id) = logit - log_sum_exp; the largest logit if not requested
};

/// The BestRow of every row. The caller keeps it, so that its memory is reused.
class BestLogits {
 public:
  /// Requests the k largest logits and the log-sum-exp of each row. This is the initial state.
  void want_log_sums() { chosen_from_ = 0; }
  /// Requests only what a choice needs, without log-sum-exp. A row then holds the largest logit of the tokens from
  /// `first` on, and every larger logit of the tokens before `first`. It has at least first + 1 entries, of which not
  /// all need be the largest.
  /// @param first  at least 1
  void want_choice(int32_t first) { chosen_from_ = first; }
  /// Allocates room for `rows` rows of k entries each.
  void resize(int64_t rows, int k);
  int k() const { return k_; }
  /// Returns: the first token of the choice; 0 if log-sum-exps are requested instead.
  int32_t choice_from() const { return chosen_from_; }
  size_t rows() const { return log_sums_.size(); }
  BestRow row(size_t index) const;
  /// Fills a row from logits. The i-th logit belongs to token ids[i], with rising ids, or to token i if `ids` is empty.
  /// If there are fewer than k logits, the rest of the row is filled with token 0 and minus infinity.
  void take_row(size_t index, std::span<const float> logits, std::span<const int32_t> ids);
  /// Fills a row with what a device found. Requires: k values and k ids.
  void set_row(size_t index, const BestRow& row);

 private:
  friend void best_of_matrix(const Tensor& x, const PackedMatrix& matrix, const Tensor& bias, int k, BestLogits& best);

  bool log_sums_wanted() const { return chosen_from_ == 0; }

  int k_ = 0;
  int32_t chosen_from_ = 0;       // 0: no choice
  std::vector<float> values_;     // [rows, k]
  std::vector<int32_t> ids_;      // [rows, k]
  std::vector<double> log_sums_;  // [rows]
};

/// Finds the k largest of each row of logits = x W + bias, and its log-sum-exp. Logits are computed for some columns at
/// a time and read while they are in the cache. They are never stored.
/// @param x  [R, D];  @param matrix  W [D, V];  @param bias  [V], undefined for none;  @param k  at least 1; at most V
/// entries are filled
/// The bits are those of `best_of_rows` of the whole product. The bits of a row do not depend on the other rows.
void best_of_matrix(const Tensor& x, const PackedMatrix& matrix, const Tensor& bias, int k, BestLogits& best);

/// Finds the k largest of each row of logits [R, V] float32, and its log-sum-exp.
void best_of_rows(const Tensor& logits, int k, BestLogits& best);

}  // namespace dragoman::kernels
