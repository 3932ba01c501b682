#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/packed_weight.h"

namespace dragoman::ops {

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
  size_t rows() const { return log_sums_.size(); }
  BestRow row(size_t index) const;
  /// Fills a row from logits of which the i-th is that of token ids[i], rising, or of token i for no ids. With fewer
  /// than k of them the rest of the row are tokens 0 of minus infinity.
  void take_row(size_t index, std::span<const float> logits, std::span<const int32_t> ids);

 private:
  friend void best_of_product(const Tensor& x, const Weight& weight, const Tensor& bias, int k, BestLogits& best);

  bool log_sums_wanted() const { return chosen_from_ == 0; }

  int k_ = 0;
  int32_t chosen_from_ = 0;       // 0: no choice
  std::vector<float> values_;     // [rows, k]
  std::vector<int32_t> ids_;      // [rows, k]
  std::vector<double> log_sums_;  // [rows]
};

/// The k largest of each row of logits = x W^T + bias and its log-sum-exp. With a packed copy of W the logits are
/// computed a part of the columns at a time and looked at while they are in the cache; they are never stored.
/// @param x  [R, D];  @param weight  [V, D];  @param bias  [V], undefined for none;  @param k  at least 1; at most V of
/// them are given; for a choice, one more than the tokens before the first
/// The bits are those of `best_of_rows` of the whole product, and those of a row do not depend on the others. Where
/// only a choice is wanted, most of a product in float32 may be spared (LogitScreen).
void best_of_product(const Tensor& x, const Weight& weight, const Tensor& bias, int k, BestLogits& best);

/// The same of logits [R, V] float32 that are there.
void best_of_rows(const Tensor& logits, int k, BestLogits& best);

}  // namespace dragoman::ops
