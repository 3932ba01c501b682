#pragma once

#include <vector>

#include "ops/types.h"

namespace dragoman::ops {

/// The way of a recurrent layer over the sentences.
enum class Direction {
  kForward,
  kBackward,  ///< from the last row of each sentence to its first
};

/// The order in which a recurrent layer goes over ragged rows: sentences sorted by length, the longest first, and step
/// after step. The sentences that reach step t are the first active(t) of this order, so that each step is one product
/// over rows that stand together. "Place" p = first(t) + k is the row of the k-th sentence in step t.
class StepPlan {
 public:
  /// @param offsets  [B + 1] int32: sentence b has rows offsets[b] .. offsets[b + 1]
  /// Throws: Error, "recurrent_layer: offsets run from 0 to 7, must run from 0 to the number of rows, 8".
  StepPlan(const Tensor& offsets, int64_t n_rows, Direction direction, const char* op);

  int64_t steps() const { return static_cast<int64_t>(first_.size()) - 1; }
  int64_t sentences() const { return order_.dim(0); }
  int64_t first(int64_t step) const { return first_[static_cast<size_t>(step)]; }
  /// Returns: the number of sentences that reach a step; 0 behind the last.
  int64_t active(int64_t step) const { return step < steps() ? first(step + 1) - first(step) : 0; }
  /// Returns: the part of a matrix [N, D] in the order of places that belongs to one step.
  Tensor part(const Tensor& of_places, int64_t step) const { return of_places.rows(first(step), first(step + 1)); }
  /// Returns: [n] int32, the ragged rows of one step.
  Tensor rows(int64_t step) const { return rows_.rows(first(step), first(step + 1)); }
  /// Returns: the sentences of one step, by number.
  std::span<const int32_t> sentences_of(int64_t step) const;

  const Tensor& rows() const { return rows_; }       ///< [N] int32: the ragged row of each place
  const Tensor& places() const { return places_; }   ///< [N] int32: the place of each ragged row
  const Tensor& order() const { return order_; }     ///< [B] int32: the sentence of each rank, the longest first
  const Tensor& ranks() const { return ranks_; }     ///< [B] int32: the rank of each sentence
  const Tensor& last_rows() const { return last_; }  ///< [B] int32: the ragged row of the last step of each sentence
  bool has_empty_sentence() const { return has_empty_; }

 private:
  std::vector<int64_t> first_;
  std::vector<int32_t> sorted_;  // the sentence of each rank
  Tensor rows_, places_, order_, ranks_, last_;
  bool has_empty_ = false;
};

/// Copies rows: y[n] = x[ids[n]].
[[nodiscard]] Tensor gathered(const Tensor& x, const Tensor& ids);

}  // namespace dragoman::ops
