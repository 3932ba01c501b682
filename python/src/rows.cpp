#include "rows.h"

#include "base/error.h"
#include "ops/attention.h"
#include "tensor/transfer.h"

namespace dragoman::python {
namespace {

void check_batch(const char* name, const tensor::Shape& shape, int64_t sentences) {
  base::check_usage(shape.rank() == 3 && shape[0] == sentences,
                    "attention: {} is {}, must be [B, length, width] with the B of query, {}", name, shape, sentences);
}

}  // namespace

Variable rows_of(const Variable& x) {
  const tensor::Shape& shape = x.shape();
  base::check_usage(shape.rank() >= 1, "rows: a scalar has no rows; give it an axis with reshape");
  if (shape.rank() == 2) {
    return x;
  }
  const int64_t width = shape[shape.rank() - 1];
  base::check_usage(width > 0, "rows: the last axis of {} is empty", shape);
  return ops::reshape(x, {shape.size() / width, width});
}

Variable with_last_axis(const Variable& rows, const tensor::Shape& outer, int64_t width) {
  std::vector<int64_t> dims(outer.dims().begin(), outer.dims().end());
  dims.push_back(width);
  return ops::reshape(rows, shape_of(dims));
}

Tensor equal_offsets(int64_t sentences, int64_t length) {
  std::vector<int32_t> offsets;
  for (int64_t sentence = 0; sentence <= sentences; ++sentence) {
    offsets.push_back(static_cast<int32_t>(sentence * length));
  }
  return tensor::host_tensor(offsets);
}

kernels::AttentionBounds bounds_of_batch(const tensor::Shape& query, const tensor::Shape& key,
                                         const std::optional<Variable>& mask) {
  base::check_usage(query.rank() == 3, "attention: query is {}, must be [B, length, width]", query);
  const int64_t sentences = query[0];
  check_batch("key", key, sentences);
  kernels::AttentionBounds bounds{equal_offsets(sentences, query[1]), equal_offsets(sentences, key[1])};
  if (mask) {
    base::check_usage(mask->shape() == tensor::Shape({sentences, key[1]}) && mask->dtype() == tensor::DType::kBool,
                      "attention: mask is {} ({}), must be [{}, {}] (bool)", mask->shape(),
                      tensor::dtype_name(mask->dtype()), sentences, key[1]);
    bounds.key_mask = mask->value().reshape({sentences * key[1]});
  }
  return bounds;
}

Variable attention_of_batch(const Variable& query, const Variable& key, const Variable& value,
                            const kernels::AttentionOptions& options, const std::optional<Variable>& mask) {
  base::check_range("n_heads", options.n_heads, 1, 65'536);
  const kernels::AttentionBounds bounds = bounds_of_batch(query.shape(), key.shape(), mask);
  check_batch("value", value.shape(), query.dim(0));
  const Variable context = ops::attention(rows_of(query), rows_of(key), rows_of(value), bounds, options);
  return with_last_axis(context, {query.dim(0), query.dim(1)}, context.dim(1));
}

}  // namespace dragoman::python
