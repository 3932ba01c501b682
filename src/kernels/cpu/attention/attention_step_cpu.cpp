#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention/attention_step_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include <type_traits>

#include "kernels/cpu/attention/attention_step_cpu.h"
#include "kernels/cpu/attention/cached_rows-inl.h"
#include "kernels/cpu/gemm/int8_cells-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {

constexpr int64_t kAhead = 4;  // positions

template <class T>
HWY_INLINE const T* row_of_position(const StepKeys& keys, const void* base, int64_t t) {
  return static_cast<const T*>(base) + (keys.row_of_position != nullptr ? keys.row_of_position[t] : t) * keys.stride;
}

// Returns the address of the scale of a head of an int8 row, which may be unaligned. The key or value, of `width`
// numbers, begins at `row`.
HWY_INLINE const int8_t* scale_of_head(const int8_t* row, int64_t width, int64_t head) {
  return row + width + head * static_cast<int64_t>(sizeof(float));
}

// Prefetches a cache row that is read soon: rows of beams lie apart, so that the hardware prefetcher misses them.
template <class T>
HWY_INLINE void prefetch_row(const StepKeys& keys, const void* base, int64_t t, int64_t elements) {
  if (t < keys.length) {
    const auto* row = reinterpret_cast<const char*>(row_of_position<T>(keys, base, t));
    for (int64_t byte = 0; byte < elements * static_cast<int64_t>(sizeof(T)); byte += 64) {
      __builtin_prefetch(row + byte);
    }
  }
}

// Products of one head's parts of kQueries queries and a key, added up lane by lane; the key is read once.
template <class T, int kQueries>
HWY_INLINE void head_products(const float* query, int64_t query_stride, const T* key, int64_t d_head,
                              RowVector (&sums)[kQueries]) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (RowVector& sum : sums) {
    sum = hn::Zero(d);
  }
  int64_t c = 0;
  for (; c + lanes <= d_head; c += lanes) {
    const RowVector part = load_cached(key + c);
    HWY_UNROLL(4)
    for (int q = 0; q < kQueries; ++q) {
      sums[q] = hn::MulAdd(hn::LoadU(d, query + q * query_stride + c), part, sums[q]);
    }
  }
  if (c < d_head) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(d_head - c));
    const RowVector part = load_cached_part(key + c, d_head - c);
    HWY_UNROLL(4)
    for (int q = 0; q < kQueries; ++q) {
      sums[q] = hn::MulAdd(hn::MaskedLoad(mask, d, query + q * query_stride + c), part, sums[q]);
    }
  }
}

// The sums of the lanes of four vectors, in one vector of four: half the shuffles of four sums apart.
HWY_INLINE hn::Vec<hn::Full128<float>> sums_of_four(const RowVector (&x)[4]) {
  const RowTag d;
  const hn::Repartition<double, RowTag> pairs;
  // Of each block of four: a0 + a2, b0 + b2, a1 + a3, b1 + b3.
  const auto fold = [&](RowVector a, RowVector b) HWY_ATTR {
    return hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
  };
  const auto first = fold(x[0], x[1]), second = fold(x[2], x[3]);
  const RowVector blocks = hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, first, second)),
                                   hn::BitCast(d, hn::InterleaveUpper(pairs, first, second)));
#if HWY_TARGET == HWY_NEON
  return blocks;  // one block of four is the whole vector
#else
  const hn::Half<RowTag> half;
  const auto halves = hn::Add(hn::LowerHalf(half, blocks), hn::UpperHalf(half, blocks));
#if HWY_TARGET == HWY_AVX3
  const hn::Full128<float> quarter;
  return hn::Add(hn::LowerHalf(quarter, halves), hn::UpperHalf(quarter, halves));
#else
  return halves;
#endif
#endif
}

// The head of a key and a value that a head reads, its own unless heads share.
template <bool kShares>
HWY_INLINE int64_t key_head(const StepShape& shape, int64_t head) {
  return kShares ? shape.key_heads[head] : head;
}

// The scales of `heads` heads of an int8 key, which is `width` numbers.
template <bool kShares>
HWY_INLINE void load_scales(const StepShape& shape, const int8_t* key, int64_t width, int64_t first, int64_t heads,
                            float (&scales)[4]) {
  if constexpr (kShares) {
    for (int64_t i = 0; i < heads; ++i) {
      std::memcpy(scales + i, scale_of_head(key, width, key_head<true>(shape, first + i)), sizeof(float));
    }
  } else {
    std::memcpy(scales, scale_of_head(key, width, first), static_cast<size_t>(heads) * sizeof(float));
  }
}

// weights[h * width + t] = scale * q_h . k_h of positions [begin, end), for kQueries rows from `first` on that share
// them; position by position, so that a cache row is read once.
template <class T, bool kShares, int kQueries>
HWY_INLINE void score_positions(const StepShape& shape, const StepRows& rows, int64_t first, int64_t begin,
                                int64_t end) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape.d_head));
  const hn::Full128<float> four;
  const StepKeys& keys = rows.keys[first];
  const float* query = rows.query + first * rows.query_stride;
  const int64_t width = rows.width;
  const int64_t key_width = shape.n_kv_heads * shape.d_head;
  const int64_t elements = cached_row_elements(key_width, static_cast<int>(shape.n_kv_heads), keys.dtype);
  for (int64_t t = begin; t < end; ++t) {
    const T* key = row_of_position<T>(keys, keys.keys, t);
    prefetch_row<T>(keys, keys.keys, t + kAhead, elements);
    for (int64_t h = rows.first_head; h < rows.end_head; h += 4) {
      const int64_t heads = std::min<int64_t>(rows.end_head - h, 4);
      RowVector products[4][kQueries];
      HWY_UNROLL(4)
      for (int64_t i = 0; i < 4; ++i) {
        const int64_t head = h + std::min(i, heads - 1);
        head_products<T, kQueries>(query + head * shape.d_head, rows.query_stride,
                                   key + key_head<kShares>(shape, head) * shape.d_head, shape.d_head, products[i]);
      }
      auto scales = hn::Set(four, scale);
      if constexpr (std::is_same_v<T, int8_t>) {
        alignas(16) float head_scales[4] = {};
        load_scales<kShares>(shape, key, key_width, h, heads, head_scales);
        scales = hn::Mul(scales, hn::Load(four, head_scales));
      }
      HWY_UNROLL(4)
      for (int q = 0; q < kQueries; ++q) {
        const RowVector of_row[4] = {products[0][q], products[1][q], products[2][q], products[3][q]};
        alignas(16) float sums[4];
        hn::Store(hn::Mul(sums_of_four(of_row), scales), four, sums);
        float* weights = rows.weights + (first + q) * rows.weights_stride + h * width + t;
        for (int64_t i = 0; i < heads; ++i) {
          weights[i * width] = sums[i];
        }
      }
    }
  }
}

// context_h += sum of weights[h][t] v_h over kPositions positions from t on, in the order of t, for kQueries rows from
// `first` on that share them. All heads at once, so that a cache row is read from end to end.
template <class T, bool kShares, int kQueries, int64_t kPositions>
HWY_INLINE void add_values(const StepShape& shape, const StepRows& rows, int64_t first, int64_t t) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const StepKeys& keys = rows.keys[first];
  const int64_t width = rows.width;
  const int64_t value_width = shape.n_kv_heads * shape.d_value;
  const int64_t elements = cached_row_elements(value_width, static_cast<int>(shape.n_kv_heads), keys.dtype);
  const float* weights = rows.weights + first * rows.weights_stride;
  float* context = rows.context + first * rows.context_stride;
  const T* values[kPositions];
  for (int64_t i = 0; i < kPositions; ++i) {
    values[i] = row_of_position<T>(keys, keys.values, t + i);
    prefetch_row<T>(keys, keys.values, t + i + kAhead, elements);
  }
  for (int64_t h = rows.first_head; h < rows.end_head; ++h) {
    RowVector factors[kQueries][kPositions];
    HWY_UNROLL(4)
    for (int64_t i = 0; i < kPositions; ++i) {
      float scale = 1.0F;
      if constexpr (std::is_same_v<T, int8_t>) {
        std::memcpy(&scale, scale_of_head(values[i], value_width, key_head<kShares>(shape, h)), sizeof scale);
      }
      HWY_UNROLL(4)
      for (int q = 0; q < kQueries; ++q) {
        factors[q][i] = hn::Set(d, weights[q * rows.weights_stride + h * width + t + i] * scale);
      }
    }
    // From the columns of the head in the context to those in the cache.
    const int64_t to_cached = (key_head<kShares>(shape, h) - h) * shape.d_value;
    const auto add = [&](auto part, int64_t column, const auto& load) HWY_ATTR {
      RowVector parts[kPositions];
      HWY_UNROLL(4)
      for (int64_t i = 0; i < kPositions; ++i) {
        parts[i] = load(values[i] + column + to_cached);
      }
      HWY_UNROLL(4)
      for (int q = 0; q < kQueries; ++q) {
        float* to = context + q * rows.context_stride + column;
        RowVector sum = part.load(to);
        HWY_UNROLL(4)
        for (int64_t i = 0; i < kPositions; ++i) {
          sum = hn::MulAdd(factors[q][i], parts[i], sum);
        }
        part.store(sum, to);
      }
    };
    int64_t column = h * shape.d_value;
    const int64_t end = column + shape.d_value;
    for (; column + lanes <= end; column += lanes) {
      add(WholeVector(), column, [](const T* from) HWY_ATTR { return load_cached(from); });
    }
    if (column < end) {
      add(PartVector{hn::FirstN(d, static_cast<size_t>(end - column))}, column,
          [&](const T* from) HWY_ATTR { return load_cached_part(from, end - column); });
    }
  }
}

// Adds positions [begin, end) for kQueries rows that share them.
template <class T, bool kShares, int kQueries>
HWY_INLINE void add_positions(const StepShape& shape, const StepRows& rows, int64_t first, int64_t begin, int64_t end) {
  int64_t t = begin;
  for (; t + 4 <= end; t += 4) {
    add_values<T, kShares, kQueries, 4>(shape, rows, first, t);
  }
  for (; t < end; ++t) {
    add_values<T, kShares, kQueries, 1>(shape, rows, first, t);
  }
}

// weights[t] += the bias of a head, if the row has one.
HWY_INLINE void add_bias(const StepKeys& keys, int64_t head, float* weights) {
  if (keys.bias != nullptr) {
    map_two_rows(weights, keys.bias + head * keys.bias_stride, keys.length, weights,
                 [](RowVector weight, RowVector bias) HWY_ATTR { return hn::Add(weight, bias); });
  }
}

// What rows share first, then what each has alone.
template <class T, bool kShares, int kQueries>
void step_rows(const StepShape& shape, const StepRows& rows) {
  score_positions<T, kShares, kQueries>(shape, rows, 0, 0, rows.shared);
  for (int64_t r = 0; r < kQueries; ++r) {
    const int64_t length = rows.keys[r].length;
    score_positions<T, kShares, 1>(shape, rows, r, rows.shared, length);
    float* weights = rows.weights + r * rows.weights_stride + rows.first_head * rows.width;
    for (int64_t h = rows.first_head; h < rows.end_head && length > 0; ++h, weights += rows.width) {
      add_bias(rows.keys[r], h, weights);
      attention_softmax_of_row(weights, length, weights);
    }
    std::fill_n(rows.context + r * rows.context_stride + rows.first_head * shape.d_value,
                (rows.end_head - rows.first_head) * shape.d_value, 0.0F);
  }
  add_positions<T, kShares, kQueries>(shape, rows, 0, 0, rows.shared);
  for (int64_t r = 0; r < kQueries; ++r) {
    add_positions<T, kShares, 1>(shape, rows, r, rows.shared, rows.keys[r].length);
  }
}

template <class T, bool kShares>
void step_rows_of(const StepShape& shape, const StepRows& rows) {
  static_assert(kStepRows == 4);
  switch (rows.count) {
    case 1:
      return step_rows<T, kShares, 1>(shape, rows);
    case 2:
      return step_rows<T, kShares, 2>(shape, rows);
    case 3:
      return step_rows<T, kShares, 3>(shape, rows);
    default:
      return step_rows<T, kShares, 4>(shape, rows);
  }
}

template <class T>
void step_rows_with(const StepShape& shape, const StepRows& rows) {
  shape.key_heads == nullptr ? step_rows_of<T, false>(shape, rows) : step_rows_of<T, true>(shape, rows);
}

void step_rows_kernel(const StepShape& shape, const StepRows& rows) {
  switch (rows.keys->dtype) {
    case tensor::DType::kInt8:
      return step_rows_with<int8_t>(shape, rows);
    case tensor::DType::kBFloat16:
      return step_rows_with<tensor::BFloat16>(shape, rows);
    default:
      return step_rows_with<float>(shape, rows);
  }
}

void quantise_heads_kernel(const float* from, int n_heads, int64_t size, int8_t* to, float* scales) {
  const int64_t whole = size / kLanes * kLanes;
  for (int h = 0; h < n_heads; ++h, from += size, to += size) {
    scales[h] = largest_magnitude(from, size) / kInt8Largest;
    const float inverse_scale = scales[h] > 0 ? 1.0F / scales[h] : 0.0F;
    quantise_row<Int8Cells>(from, whole, inverse_scale, whole / Int8Cells::kDepth, reinterpret_cast<float*>(to));
    if (whole < size) {
      alignas(64) float last[kLanes / Int8Cells::kDepth];
      quantise_row<Int8Cells>(from + whole, size - whole, inverse_scale, kLanes / Int8Cells::kDepth, last);
      std::memcpy(to + whole, last, static_cast<size_t>(size - whole));
    }
  }
}

void round_row_kernel(const float* from, int64_t size, tensor::BFloat16* to) {
  map_row(from, size, to, [](RowVector v) HWY_ATTR { return v; });
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/cpu/simd/simd.h"

namespace dragoman::kernels {
namespace {

HWY_EXPORT(step_rows_kernel);
HWY_EXPORT(round_row_kernel);
HWY_EXPORT(quantise_heads_kernel);

}  // namespace

void attention_step_rows(const StepShape& shape, const StepRows& rows) {
  DRAGOMAN_DISPATCH(step_rows_kernel)(shape, rows);
}

void round_row(const float* from, int64_t size, tensor::BFloat16* to) {
  DRAGOMAN_DISPATCH(round_row_kernel)(from, size, to);
}

void quantise_heads(const float* from, int n_heads, int64_t d_head, int8_t* to, float* scales) {
  DRAGOMAN_DISPATCH(quantise_heads_kernel)(from, n_heads, d_head, to, scales);
}

void mean_over_heads(const StepShape& shape, const float* weights, int64_t width, int64_t length, float* mean) {
  for (int64_t t = 0; t < length; ++t) {
    float sum = 0;
    for (int64_t h = 0; h < shape.n_heads; ++h) {
      sum += weights[h * width + t];
    }
    mean[t] = sum / static_cast<float>(shape.n_heads);
  }
}

}  // namespace dragoman::kernels
#endif
