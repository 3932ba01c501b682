#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention_step_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include "ops/attention_step_cpu.h"
#include "ops/row_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops::HWY_NAMESPACE {

HWY_INLINE const float* row_of_position(const StepKeys& keys, const float* base, int64_t t) {
  return base + (keys.row_of_position != nullptr ? keys.row_of_position[t] : t) * keys.stride;
}

// scores[h * width + t] = scale * q_h . k_h of position t; position by position, so that a cache row is read once.
HWY_INLINE void score_positions(const StepShape& shape, const float* query, const StepKeys& keys, int64_t width,
                                float* scores) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape.d_head));
  for (int64_t t = 0; t < keys.length; ++t) {
    const float* key = row_of_position(keys, keys.keys, t);
    for (int64_t h = 0; h < shape.n_heads; ++h) {
      scores[h * width + t] = scale * dot_rows(query + h * shape.d_head, key + h * shape.d_head, shape.d_head);
    }
  }
}

// In place; `row` has room for whole vectors.
HWY_INLINE void normalise(float* row, int64_t length) {
  const RowTag d;
  const RowVector largest = hn::Set(d, largest_of_row(row, length));
  map_row(row, length, row, [&](RowVector x) HWY_ATTR { return vector_exp(d, hn::Sub(x, largest)); });
  const RowVector inverse = hn::Set(d, 1.0F / sum_row(row, length, [](RowVector x) HWY_ATTR { return x; }));
  map_row(row, length, row, [&](RowVector x) HWY_ATTR { return hn::Mul(x, inverse); });
}

// context_h = sum_t weights[h][t] v_h of position t, in the order of t. kVectors vectors of a head stay in registers.
template <int64_t kVectors>
HWY_INLINE void sum_values(const StepKeys& keys, const float* weights, int64_t column, float* context) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  RowVector sums[kVectors];
  HWY_UNROLL(4)
  for (int64_t v = 0; v < kVectors; ++v) {
    sums[v] = hn::Zero(d);
  }
  for (int64_t t = 0; t < keys.length; ++t) {
    const float* value = row_of_position(keys, keys.values, t) + column;
    const RowVector weight = hn::Set(d, weights[t]);
    HWY_UNROLL(4)
    for (int64_t v = 0; v < kVectors; ++v) {
      sums[v] = hn::MulAdd(weight, hn::LoadU(d, value + v * lanes), sums[v]);
    }
  }
  HWY_UNROLL(4)
  for (int64_t v = 0; v < kVectors; ++v) {
    hn::StoreU(sums[v], d, context + column + v * lanes);
  }
}

HWY_INLINE void sum_values_tail(const StepKeys& keys, const float* weights, int64_t column, int64_t columns,
                                float* context) {
  const RowTag d;
  const auto mask = hn::FirstN(d, static_cast<size_t>(columns));
  RowVector sum = hn::Zero(d);
  for (int64_t t = 0; t < keys.length; ++t) {
    const float* value = row_of_position(keys, keys.values, t) + column;
    sum = hn::MulAdd(hn::Set(d, weights[t]), hn::MaskedLoad(mask, d, value), sum);
  }
  hn::BlendedStore(sum, mask, d, context + column);
}

HWY_INLINE void sum_values_of_head(const StepShape& shape, const StepKeys& keys, int64_t head, const float* weights,
                                   float* context) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(RowTag()));
  int64_t column = head * shape.d_value;
  const int64_t end = column + shape.d_value;
  for (; column + 4 * lanes <= end; column += 4 * lanes) {
    sum_values<4>(keys, weights, column, context);
  }
  for (; column + lanes <= end; column += lanes) {
    sum_values<1>(keys, weights, column, context);
  }
  if (column < end) {
    sum_values_tail(keys, weights, column, end - column, context);
  }
}

void step_row_kernel(const StepShape& shape, const float* query, const StepKeys& keys, float* weights, float* context) {
  const int64_t width = step_row_width(keys.length);
  score_positions(shape, query, keys, width, weights);
  for (int64_t h = 0; h < shape.n_heads; ++h) {
    if (keys.length > 0) {
      normalise(weights + h * width, keys.length);
    }
    sum_values_of_head(shape, keys, h, weights + h * width, context);
  }
}

}  // namespace dragoman::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/simd.h"

namespace dragoman::ops {
namespace {

HWY_EXPORT(step_row_kernel);

}  // namespace

void attention_step_row(const StepShape& shape, const float* query, const StepKeys& keys, float* weights,
                        float* context) {
  DRAGOMAN_DISPATCH(step_row_kernel)(shape, query, keys, weights, context);
}

void mean_over_heads(const StepShape& shape, const float* weights, int64_t length, float* mean) {
  const int64_t width = step_row_width(length);
  for (int64_t t = 0; t < length; ++t) {
    float sum = 0;
    for (int64_t h = 0; h < shape.n_heads; ++h) {
      sum += weights[h * width + t];
    }
    mean[t] = sum / static_cast<float>(shape.n_heads);
  }
}

}  // namespace dragoman::ops
#endif
