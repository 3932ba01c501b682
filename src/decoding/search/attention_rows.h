#pragma once

#include <cstdint>
#include <vector>

#include "decoding/search/hypothesis.h"
#include "decoding/search/sentence_request.h"
#include "decoding/search/sentence_search.h"

namespace dragoman::decoding {

/// Returns: the layers that a search wants to be shown: the last one for the coverage penalty, and the one of
/// alignments.
std::vector<int> attention_layers(const SearchOptions& options, const SentenceRequest& request);

/// Keeps the cross-attention of the layer that a request wants alignments from: a row for each hypothesis of each step.
/// Complexity: 4 * S bytes a row: 4 * beam_size * T * S for a beam search of T steps.
class AttentionRows {
 public:
  explicit AttentionRows(const SentenceRequest& request)
      : layer_(request.alignment_layer), source_length_(static_cast<int64_t>(request.source.size())) {}

  /// The layer, or none.
  std::span<const int> layers() const { return layer_ ? std::span<const int>(&*layer_, 1) : std::span<const int>(); }
  /// Adds the rows of a step, if they are of the layer. @param weights  [count, S or more], a row every `stride` floats
  void add_step(int layer, size_t count, const float* weights, int64_t stride);
  /// Adds the rows of the pieces of a prefix, as if they were those of one step.
  void add_prefix(const ScoredPrefix& prefix);
  /// Returns: the number of row `row` of the last step.
  int32_t number(int32_t row) const { return static_cast<int32_t>(first_) + row; }
  /// Makes the alignment of a hypothesis. Leaves it out if none is wanted or the model has shown nothing.
  /// @param numbers  of the rows of its pieces, [T]
  void align(const std::vector<int32_t>& numbers, Hypothesis& hypothesis) const;
  /// The same for a hypothesis whose pieces have the first rows, in their order.
  void align(Hypothesis& hypothesis) const;

 private:
  std::optional<int> layer_;
  int64_t source_length_;    // S
  size_t count_ = 0;         // rows so far
  size_t first_ = 0;         // of the last step
  std::vector<float> rows_;  // [count, S]
};

}  // namespace dragoman::decoding
