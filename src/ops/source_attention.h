#pragma once

#include <vector>

#include "kernels/recurrent.h"
#include "ops/types.h"

namespace dragoman::ops {

using kernels::ScoreKind;
using kernels::SourceRows;

/// The encoder states of B sentences, as decoder states attend to them. In training they are parts of two matrices,
/// which get gradients. Decoding keeps those of each sentence apart.
struct SourceMemory {
  ScoreKind kind = ScoreKind::kAdditive;
  Variable keys;                 ///< [Ns, A]; undefined if there are only `rows`
  Variable values;               ///< [Ns, C]
  std::vector<SourceRows> rows;  ///< of each sentence

  int64_t longest() const;
};

/// Describes the sources of a ragged batch.
/// @param keys  [Ns, A];  @param values  [Ns, C];  @param offsets  [B + 1]. bfloat16 is widened
/// Throws: Error for a sentence without rows, "source_memory: sentence 2 has no rows; attention needs one".
[[nodiscard]] SourceMemory source_memory(ScoreKind kind, const Variable& keys, const Variable& values,
                                         const Tensor& offsets);

/// Computes the context of each decoder state:  a = softmax_j(score(query, key_j)),  context = sum_j a_j value_j.
/// @param query  [N, A] of ragged rows;  @param offsets  [B + 1] of the queries
/// @param score  [A], v of additive scores; undefined otherwise
/// @param attention  null, or overwritten with the weights [N, longest source]
/// @return [N, C].   Saves for backward: the weights.   Gradients: query, keys, values, score.
/// Source: Bahdanau et al. 2015, appendix A.1.2; Luong et al. 2015, section 3.1, "general".
Variable source_attention(const Variable& query, const Tensor& offsets, const SourceMemory& memory,
                          const Variable& score, Tensor* attention = nullptr);

/// The gradients of a memory, as buffers for kernels that add to them.
class MemoryGradients {
 public:
  explicit MemoryGradients(const SourceMemory& memory, const Variable& score);
  std::vector<SourceRows>& rows() { return rows_; }
  Tensor& score() { return score_; }
  /// Hands them on.
  void finish();

 private:
  const SourceMemory& memory_;
  Variable score_weight_;
  Tensor keys_, values_, score_;
  std::vector<SourceRows> rows_;
};

}  // namespace dragoman::ops
