#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention/attention_shared_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include <type_traits>

#include "kernels/cpu/attention/attention_shared_cpu.h"
#include "kernels/cpu/attention/cached_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {

constexpr int64_t kRowLanes = HWY_MAX_BYTES / sizeof(float);
constexpr int64_t kBlockVectors = kKeyBlock / kRowLanes;
constexpr int64_t kValueVectors = HWY_TARGET == HWY_AVX3 ? 4 : 2;  // of a head at a time: sums stay in registers

template <class T>
constexpr int64_t kLineVectors = 64 / sizeof(T) / kRowLanes;  // of a cache line

// Keys or values of a head, and of the next head, which may belong to the next sentence. While a head is read, the same
// offset of the next head is prefetched: a head is about a page, at whose end the hardware prefetcher stops. The next
// head may be shorter; a prefetch behind its end does no harm.
template <class T>
struct HeadData {
  const T* now;
  const T* next;

  HeadData operator+(int64_t offset) const { return {now + offset, next + offset}; }
};

// The `head`th of those that stand `size` elements apart.
template <class T>
HWY_INLINE HeadData<T> head_data(const SharedProblem& problem, const void* heads, const void* next_heads, int64_t head,
                                 int64_t size) {
  const T* now = static_cast<const T*>(heads) + head * size;
  if (head + 1 < problem.n_heads) {
    return {now, now + size};
  }
  return {now, next_heads != nullptr ? static_cast<const T*>(next_heads) : now};
}

template <class T>
constexpr bool kIsScaled = std::is_same_v<T, int8_t>;

// weights[q][t] = q_h . k_h of position t / sqrt(Dh) for kBlocks blocks of positions of a head; `query`, `key` and
// `key_scales` (int8 only) point to the head and the first block. Several sums are under way at a time, since each
// waits for itself.
template <class T, int kQueries, int kBlocks>
HWY_INLINE void score_blocks(const SharedProblem& problem, const float* query, HeadData<T> key, const float* key_scales,
                             float* weights) {
  constexpr int64_t kVectors = kBlocks * kBlockVectors;
  const RowTag d;
  const int64_t block_size = problem.d_head * kKeyBlock;
  RowVector sums[kQueries][kVectors];
  for (auto& row : sums) {
    for (RowVector& sum : row) {
      sum = hn::Zero(d);
    }
  }
  for (int64_t c = 0; c < problem.d_head; ++c, key = key + kKeyBlock) {
    for (int64_t block = 0; block < kBlocks; ++block) {
      __builtin_prefetch(key.next + block * block_size);
    }
    HWY_UNROLL(4)
    for (int q = 0; q < kQueries; ++q) {
      const RowVector factor = hn::Set(d, query[q * problem.query_stride + c]);
      HWY_UNROLL(4)
      for (int64_t v = 0; v < kVectors; ++v) {
        const T* from = key.now + v / kBlockVectors * block_size + v % kBlockVectors * kRowLanes;
        sums[q][v] = hn::MulAdd(factor, load_cached(from), sums[q][v]);
      }
    }
  }
  const auto scale = hn::Set(d, 1.0F / std::sqrt(static_cast<float>(problem.d_head)));
  for (int q = 0; q < kQueries; ++q) {
    for (int64_t v = 0; v < kVectors; ++v) {
      RowVector score = hn::Mul(sums[q][v], scale);
      if constexpr (kIsScaled<T>) {
        score = hn::Mul(score, hn::LoadU(d, key_scales + v * kRowLanes));
      }
      hn::StoreU(score, d, weights + q * problem.width + v * kRowLanes);
    }
  }
}

template <class T, int kQueries>
HWY_INLINE void score_head(const SharedProblem& problem, int64_t head) {
  constexpr int kBlocks = kQueries == 1 ? 4 : kQueries == 2 ? 2 : 1;
  const float* query = problem.query + head * problem.d_head;
  const int64_t blocks = (problem.length + kKeyBlock - 1) / kKeyBlock;
  const auto key = head_data<T>(problem, problem.keys, problem.next_keys, head, blocks * problem.d_head * kKeyBlock);
  int64_t block = 0;
  const auto score = [&]<int kCount>(std::integral_constant<int, kCount>) HWY_ATTR {
    for (; block + kCount <= blocks; block += kCount) {
      const float* scales = kIsScaled<T> ? problem.key_scales + (head * blocks + block) * kKeyBlock : nullptr;
      score_blocks<T, kQueries, kCount>(problem, query, key + block * problem.d_head * kKeyBlock, scales,
                                        problem.weights + block * kKeyBlock);
    }
  };
  score(std::integral_constant<int, kBlocks>());
  score(std::integral_constant<int, 2>());
  score(std::integral_constant<int, 1>());
}

// weights[q][t] *= scale of the value of position t
template <int kQueries>
HWY_INLINE void scale_weights(const SharedProblem& problem, int64_t head) {
  const RowTag d;
  const int64_t padded = (problem.length + kKeyBlock - 1) / kKeyBlock * kKeyBlock;
  const float* scales = problem.value_scales + head * padded;
  for (int q = 0; q < kQueries; ++q) {
    float* weights = problem.weights + q * problem.width;
    for (int64_t t = 0; t < padded; t += kRowLanes) {
      hn::StoreU(hn::Mul(hn::LoadU(d, weights + t), hn::LoadU(d, scales + t)), d, weights + t);
    }
  }
}

// context_h[columns] = sum_t weights[q][t] v_h[columns] of position t, in the order of t, for whole vectors.
template <class T, int kQueries, int64_t kVectors>
HWY_INLINE void sum_head(const SharedProblem& problem, HeadData<T> value, float* context) {
  const RowTag d;
  RowVector sums[kQueries][kVectors];
  for (auto& row : sums) {
    for (RowVector& sum : row) {
      sum = hn::Zero(d);
    }
  }
  for (int64_t t = 0; t < problem.length; ++t, value = value + problem.d_value) {
    for (int64_t v = 0; v < kVectors; v += kLineVectors<T>) {
      __builtin_prefetch(value.next + v * kRowLanes);
    }
    HWY_UNROLL(4)
    for (int q = 0; q < kQueries; ++q) {
      const RowVector weight = hn::Set(d, problem.weights[q * problem.width + t]);
      HWY_UNROLL(4)
      for (int64_t v = 0; v < kVectors; ++v) {
        sums[q][v] = hn::MulAdd(weight, load_cached(value.now + v * kRowLanes), sums[q][v]);
      }
    }
  }
  for (int q = 0; q < kQueries; ++q) {
    for (int64_t v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[q][v], d, context + q * problem.context_stride + v * kRowLanes);
    }
  }
}

// The same for the last columns of a head, fewer than a vector.
template <class T, int kQueries>
HWY_INLINE void sum_tail(const SharedProblem& problem, const T* value, int64_t columns, float* context) {
  const RowTag d;
  const auto mask = hn::FirstN(d, static_cast<size_t>(columns));
  for (int q = 0; q < kQueries; ++q) {
    RowVector sum = hn::Zero(d);
    for (int64_t t = 0; t < problem.length; ++t) {
      const RowVector weight = hn::Set(d, problem.weights[q * problem.width + t]);
      sum = hn::MulAdd(weight, load_cached_part(value + t * problem.d_value, columns), sum);
    }
    hn::BlendedStore(sum, mask, d, context + q * problem.context_stride);
  }
}

template <int kQueries>
void add_to_mean(const SharedProblem& problem) {
  for (int q = 0; q < kQueries; ++q) {
    for (int64_t t = 0; t < problem.length; ++t) {
      const float weight = problem.weights[q * problem.width + t];
      problem.mean_weights[q * problem.mean_stride + t] += weight / static_cast<float>(problem.n_heads);
    }
  }
}

template <class T, int kQueries>
void attend(const SharedProblem& problem) {
  for (int64_t h = 0; h < problem.n_heads; ++h) {
    score_head<T, kQueries>(problem, h);
    for (int q = 0; q < kQueries && problem.length > 0; ++q) {
      float* weights = problem.weights + q * problem.width;
      attention_softmax_of_row(weights, problem.length, weights);
    }
    if (problem.mean_weights != nullptr) {
      add_to_mean<kQueries>(problem);
    }
    if constexpr (kIsScaled<T>) {
      scale_weights<kQueries>(problem, h);
    }
    const auto value = head_data<T>(problem, problem.values, problem.next_values, h, problem.length * problem.d_value);
    float* context = problem.context + h * problem.d_value;
    int64_t column = 0;
    for (; column + kValueVectors * kRowLanes <= problem.d_value; column += kValueVectors * kRowLanes) {
      sum_head<T, kQueries, kValueVectors>(problem, value + column, context + column);
    }
    for (; column + 2 * kRowLanes <= problem.d_value; column += 2 * kRowLanes) {
      sum_head<T, kQueries, 2>(problem, value + column, context + column);
    }
    for (; column + kRowLanes <= problem.d_value; column += kRowLanes) {
      sum_head<T, kQueries, 1>(problem, value + column, context + column);
    }
    if (column < problem.d_value) {
      sum_tail<T, kQueries>(problem, value.now + column, problem.d_value - column, context + column);
    }
  }
}

template <class T>
void attend_with(const SharedProblem& problem, int64_t count) {
  switch (count) {
    case 1:
      return attend<T, 1>(problem);
    case 2:
      return attend<T, 2>(problem);
    case 3:
      return attend<T, 3>(problem);
    default:
      return attend<T, kSharedQueries>(problem);
  }
}

void attend_to_shared(const SharedProblem& problem, int64_t count) {
  switch (problem.dtype) {
    case tensor::DType::kInt8:
      return attend_with<int8_t>(problem, count);
    case tensor::DType::kBFloat16:
      return attend_with<tensor::BFloat16>(problem, count);
    default:
      return attend_with<float>(problem, count);
  }
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/cpu/simd/simd.h"

namespace dragoman::kernels {
namespace {

HWY_EXPORT(attend_to_shared);

}  // namespace

void attention_shared_kernel(const SharedProblem& problem, int64_t count) {
  DRAGOMAN_DISPATCH(attend_to_shared)(problem, count);
}

}  // namespace dragoman::kernels
#endif
