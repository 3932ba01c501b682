#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention_step_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include <type_traits>

#include "ops/attention_step_cpu.h"
#include "ops/cached_rows-inl.h"
#include "ops/int8_cells-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops::HWY_NAMESPACE {

constexpr int64_t kAhead = 4;  // positions

template <class T>
HWY_INLINE const T* row_of_position(const StepKeys& keys, const void* base, int64_t t) {
  return static_cast<const T*>(base) + (keys.row_of_position != nullptr ? keys.row_of_position[t] : t) * keys.stride;
}

// Where the unit of a head of an int8 row lies, perhaps between alignments; the key or value, of `width` numbers,
// begins at `row`.
HWY_INLINE const int8_t* unit_of_head(const int8_t* row, int64_t width, int64_t head) {
  return row + width + head * static_cast<int64_t>(sizeof(float));
}

// Asks for a cache row that is read soon: rows of beams lie apart, and the processor does not guess where the next is.
template <class T>
HWY_INLINE void prefetch_row(const StepKeys& keys, const void* base, int64_t t, int64_t elements) {
  if (t < keys.length) {
    const auto* row = reinterpret_cast<const char*>(row_of_position<T>(keys, base, t));
    for (int64_t byte = 0; byte < elements * static_cast<int64_t>(sizeof(T)); byte += 64) {
      __builtin_prefetch(row + byte);
    }
  }
}

// Products of one head's parts of query and key, added up lane by lane.
template <class T>
HWY_INLINE RowVector head_products(const float* query, const T* key, int64_t d_head) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  RowVector sum = hn::Zero(d);
  int64_t c = 0;
  for (; c + lanes <= d_head; c += lanes) {
    sum = hn::MulAdd(hn::LoadU(d, query + c), load_cached(key + c), sum);
  }
  if (c < d_head) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(d_head - c));
    sum = hn::MulAdd(hn::MaskedLoad(mask, d, query + c), load_cached_part(key + c, d_head - c), sum);
  }
  return sum;
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
  const hn::Half<RowTag> half;
  const auto halves = hn::Add(hn::LowerHalf(half, blocks), hn::UpperHalf(half, blocks));
#if HWY_TARGET == HWY_AVX3
  const hn::Full128<float> quarter;
  return hn::Add(hn::LowerHalf(quarter, halves), hn::UpperHalf(quarter, halves));
#else
  return halves;
#endif
}

// scores[h * width + t] = scale * q_h . k_h of position t; position by position, so that a cache row is read once.
template <class T>
HWY_INLINE void score_positions(const StepShape& shape, const float* query, const StepKeys& keys, int64_t width,
                                float* scores) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape.d_head));
  const hn::Full128<float> four;
  const int64_t d_model = shape.n_heads * shape.d_head;
  const int64_t elements = cached_row_elements(d_model, static_cast<int>(shape.n_heads), keys.dtype);
  for (int64_t t = 0; t < keys.length; ++t) {
    const T* key = row_of_position<T>(keys, keys.keys, t);
    prefetch_row<T>(keys, keys.keys, t + kAhead, elements);
    for (int64_t h = 0; h < shape.n_heads; h += 4) {
      const int64_t heads = std::min<int64_t>(shape.n_heads - h, 4);
      RowVector products[4];
      HWY_UNROLL(4)
      for (int64_t i = 0; i < 4; ++i) {
        const int64_t column = (h + std::min(i, heads - 1)) * shape.d_head;
        products[i] = head_products(query + column, key + column, shape.d_head);
      }
      alignas(16) float sums[4];
      auto scaled = hn::Mul(sums_of_four(products), hn::Set(four, scale));
      if constexpr (std::is_same_v<T, int8_t>) {
        alignas(16) float units[4] = {};
        std::memcpy(units, unit_of_head(key, d_model, h), static_cast<size_t>(heads) * sizeof(float));
        scaled = hn::Mul(scaled, hn::Load(four, units));
      }
      hn::Store(scaled, four, sums);
      for (int64_t i = 0; i < heads; ++i) {
        scores[(h + i) * width + t] = sums[i];
      }
    }
  }
}

// context_h += sum of weights[h][t] v_h over kPositions positions from t on, in the order of t. All heads at once, so
// that a cache row is read from end to end.
template <class T, int64_t kPositions>
HWY_INLINE void add_values(const StepShape& shape, const StepKeys& keys, int64_t t, const float* weights, int64_t width,
                           float* context) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t d_model = shape.n_heads * shape.d_value;
  const int64_t elements = cached_row_elements(d_model, static_cast<int>(shape.n_heads), keys.dtype);
  const T* values[kPositions];
  for (int64_t i = 0; i < kPositions; ++i) {
    values[i] = row_of_position<T>(keys, keys.values, t + i);
    prefetch_row<T>(keys, keys.values, t + i + kAhead, elements);
  }
  for (int64_t h = 0; h < shape.n_heads; ++h) {
    RowVector factors[kPositions];
    HWY_UNROLL(4)
    for (int64_t i = 0; i < kPositions; ++i) {
      float weight = weights[h * width + t + i];
      if constexpr (std::is_same_v<T, int8_t>) {
        float unit;
        std::memcpy(&unit, unit_of_head(values[i], d_model, h), sizeof unit);
        weight *= unit;
      }
      factors[i] = hn::Set(d, weight);
    }
    int64_t column = h * shape.d_value;
    const int64_t end = column + shape.d_value;
    for (; column + lanes <= end; column += lanes) {
      RowVector sum = hn::LoadU(d, context + column);
      HWY_UNROLL(4)
      for (int64_t i = 0; i < kPositions; ++i) {
        sum = hn::MulAdd(factors[i], load_cached(values[i] + column), sum);
      }
      hn::StoreU(sum, d, context + column);
    }
    if (column < end) {
      const auto mask = hn::FirstN(d, static_cast<size_t>(end - column));
      RowVector sum = hn::MaskedLoad(mask, d, context + column);
      HWY_UNROLL(4)
      for (int64_t i = 0; i < kPositions; ++i) {
        sum = hn::MulAdd(factors[i], load_cached_part(values[i] + column, end - column), sum);
      }
      hn::BlendedStore(sum, mask, d, context + column);
    }
  }
}

template <class T>
HWY_INLINE void step_row(const StepShape& shape, const float* query, const StepKeys& keys, float* weights,
                         float* context) {
  const int64_t width = step_row_width(keys.length);
  score_positions<T>(shape, query, keys, width, weights);
  for (int64_t h = 0; h < shape.n_heads && keys.length > 0; ++h) {
    attention_softmax_of_row(weights + h * width, keys.length, weights + h * width);
  }
  std::fill_n(context, shape.n_heads * shape.d_value, 0.0F);
  int64_t t = 0;
  for (; t + 4 <= keys.length; t += 4) {
    add_values<T, 4>(shape, keys, t, weights, width, context);
  }
  for (; t < keys.length; ++t) {
    add_values<T, 1>(shape, keys, t, weights, width, context);
  }
}

void step_row_kernel(const StepShape& shape, const float* query, const StepKeys& keys, float* weights, float* context) {
  switch (keys.dtype) {
    case tensor::DType::kInt8:
      return step_row<int8_t>(shape, query, keys, weights, context);
    case tensor::DType::kBFloat16:
      return step_row<tensor::BFloat16>(shape, query, keys, weights, context);
    default:
      return step_row<float>(shape, query, keys, weights, context);
  }
}

void quantise_heads_kernel(const float* from, int n_heads, int64_t size, int8_t* to, float* units) {
  const int64_t whole = size / kLanes * kLanes;
  for (int h = 0; h < n_heads; ++h, from += size, to += size) {
    units[h] = largest_magnitude(from, size) / kInt8Largest;
    const float per_one = units[h] > 0 ? 1.0F / units[h] : 0.0F;
    quantise_row<Int8Cells>(from, whole, per_one, whole / Int8Cells::kDepth, reinterpret_cast<float*>(to));
    if (whole < size) {
      alignas(64) float last[kLanes / Int8Cells::kDepth];
      quantise_row<Int8Cells>(from + whole, size - whole, per_one, kLanes / Int8Cells::kDepth, last);
      std::memcpy(to + whole, last, static_cast<size_t>(size - whole));
    }
  }
}

void round_row_kernel(const float* from, int64_t size, tensor::BFloat16* to) {
  const RowTag d;
  const hn::Rebind<uint16_t, RowTag> halves;
  const auto rounded = [&](const float* x) HWY_ATTR {
    const auto upper = hn::ShiftRight<16>(BFloat16Cells::rounded(hn::LoadU(d, x)));
    return hn::DemoteTo(halves, hn::BitCast(hn::RebindToSigned<RowTag>(), upper));
  };
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t at = 0;
  for (; at + lanes <= size; at += lanes) {
    hn::StoreU(rounded(from + at), halves, reinterpret_cast<uint16_t*>(to + at));
  }
  if (at < size) {
    alignas(64) float part[hn::MaxLanes(RowTag())] = {};
    alignas(64) uint16_t stored[hn::MaxLanes(RowTag())];
    std::copy(from + at, from + size, part);
    hn::StoreU(rounded(part), halves, stored);
    std::memcpy(to + at, stored, static_cast<size_t>(size - at) * sizeof(uint16_t));
  }
}

}  // namespace dragoman::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/simd.h"

namespace dragoman::ops {
namespace {

HWY_EXPORT(step_row_kernel);
HWY_EXPORT(round_row_kernel);
HWY_EXPORT(quantise_heads_kernel);

}  // namespace

void attention_step_row(const StepShape& shape, const float* query, const StepKeys& keys, float* weights,
                        float* context) {
  DRAGOMAN_DISPATCH(step_row_kernel)(shape, query, keys, weights, context);
}

void round_row(const float* from, int64_t size, tensor::BFloat16* to) {
  DRAGOMAN_DISPATCH(round_row_kernel)(from, size, to);
}

void quantise_heads(const float* from, int n_heads, int64_t d_head, int8_t* to, float* units) {
  DRAGOMAN_DISPATCH(quantise_heads_kernel)(from, n_heads, d_head, to, units);
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
