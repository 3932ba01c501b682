#pragma once

#include <optional>
#include <vector>

#include "kernels/attention.h"
#include "ops/reshape.h"
#include "tensor.h"

namespace dragoman::python {

/// Returns: [..., D] as a matrix [N, D]. Throws: Error(kUsage) for a scalar.
Variable rows_of(const Variable& x);

/// Returns: rows [N, D] with the axes of `outer`, and D as the last.
Variable with_last_axis(const Variable& rows, const tensor::Shape& outer, int64_t width);

/// Returns: `function` of [..., D] as rows, with the axes of x but the last.
template <typename Function>
Variable over_rows(const Variable& x, Function function) {
  const Variable result = function(rows_of(x));
  if (x.shape().rank() == 2) {
    return result;
  }
  const std::span<const int64_t> dims = x.shape().dims();
  return with_last_axis(result, tensor::Shape(dims.first(dims.size() - 1)), result.dim(1));
}

/// Returns: [B + 1] int32, where each of B sentences of `length` rows begins.
Tensor equal_offsets(int64_t sentences, int64_t length);

/// Returns: the bounds of attention in a padded batch.
/// @param mask  bool [B, S], true = may be attended to; none = all.  Throws: Error(kUsage) for another shape.
kernels::AttentionBounds bounds_of_batch(const tensor::Shape& query, const tensor::Shape& key,
                                         const std::optional<Variable>& mask);

/// Computes ops::attention for query [B, T, D], key [B, S, D] and value [B, S, Dv]. @return [B, T, Dv]
Variable attention_of_batch(const Variable& query, const Variable& key, const Variable& value,
                            const kernels::AttentionOptions& options, const std::optional<Variable>& mask);

}  // namespace dragoman::python
