#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/cpu/gemm/column_subset.h"
#include "models/model.h"
#include "ops/best_logits.h"

namespace dragoman::decoding {

/// The output layer for sentences that may use some pieces only (a shortlist). The columns of the output weight that
/// any of them may use are kept side by side and multiplied; of its row each hypothesis then sees those of its own
/// sentence, in the order of their ids. So what a sentence sees are the same bits whatever its neighbours may use.
/// Columns are added when a sentence comes that needs them, and thrown out when a third is no longer used. Where most
/// of the vocabulary is in use, or a sentence may use all of it, the whole product is computed instead. One thread at a
/// time; the model must outlive it.
class RestrictedOutput {
 public:
  explicit RestrictedOutput(const models::Model& model) : model_(model) {}
  RestrictedOutput(const RestrictedOutput&) = delete;
  RestrictedOutput& operator=(const RestrictedOutput&) = delete;

  /// From now on hypotheses of the slot may use these pieces only. Throws Error unless they rise within the vocabulary,
  /// when there are none, and for a slot that is restricted already.
  void restrict(int32_t slot, std::span<const int32_t> ids);
  /// The slot may use all pieces again.
  void release(int32_t slot);
  /// True when no slot is restricted: the model itself will do.
  bool empty() const { return n_restricted_ == 0; }

  /// Computes the output of rows of these slots. @param hidden  [R, D];  @param slots  [R]
  void compute(const tensor::Tensor& hidden, std::vector<int32_t> slots);
  /// Of the rows computed last: [R, V], minus infinity for what a row must not use.
  tensor::Tensor logits();
  /// The k largest logits of each and its log-sum-exp, over what it may use.
  void best(int k, kernels::BestLogits& best);

  int64_t columns_kept() const { return subset_ ? subset_->size() : 0; }  ///< tests read it

 private:
  struct Slot {
    std::vector<int32_t> ids;     // empty: all
    std::vector<int32_t> places;  // of these in the subset
    uint64_t layout = 0;          // of the subset that `places` speaks of; 0: of none
  };

  Slot* slot_of(int32_t slot);
  void begin_subset();
  void keep_used_columns();
  void place(Slot& slot);
  std::span<const float> row_of(size_t row);

  const models::Model& model_;
  std::vector<Slot> slots_;
  size_t n_restricted_ = 0;
  std::vector<int32_t> uses_;   // [V] slots that may use a piece
  int64_t used_ = 0;            // pieces that some slot may use
  std::vector<int32_t> place_;  // [V] in the subset, -1: not there
  std::optional<kernels::ColumnSubset> subset_;
  uint64_t layout_ = 0;  // changes when columns move
  // Of the rows computed last:
  bool whole_ = false;
  tensor::Tensor output_;  // [R, V] or [R, columns of the subset]
  std::vector<int32_t> row_slots_;
  std::vector<float> row_;  // kept for their memory
  std::vector<int32_t> missing_;
};

}  // namespace dragoman::decoding
