#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention_shared_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include "ops/attention_shared_cpu.h"
#include "ops/cached_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops::HWY_NAMESPACE {

constexpr int64_t kRowLanes = HWY_MAX_BYTES / sizeof(float);
constexpr int64_t kBlockVectors = kKeyBlock / kRowLanes;
// Terms are added up in so many sums apart, in turn, whatever the number of queries: one sum waits for itself.
constexpr int64_t kChains = HWY_TARGET == HWY_AVX3 ? 2 : 1;

// Of a head at a time, so that sums stay in registers.
template <int kQueries>
constexpr int64_t value_vectors() {
  return HWY_TARGET == HWY_AVX3 && kQueries <= 2 ? 4 : 2;
}

template <int64_t kSize>
HWY_INLINE void clear(RowVector (&sums)[kSize]) {
  for (RowVector& sum : sums) {
    sum = hn::Zero(RowTag());
  }
}

template <int64_t kSize>
HWY_INLINE RowVector total(const RowVector (&sums)[kChains][kSize], int64_t place) {
  return kChains == 2 ? hn::Add(sums[0][place], sums[kChains - 1][place]) : sums[0][place];
}

// Adds the products of component c to the sums of kQueries x kBlocks blocks of positions.
template <class T, int kQueries, int kBlocks>
HWY_INLINE void add_component(const SharedProblem& problem, const float* query, const T* key, int64_t c,
                              RowVector (&sums)[kQueries * kBlocks * kBlockVectors]) {
  constexpr int64_t kVectors = kBlocks * kBlockVectors;
  HWY_UNROLL(4)
  for (int q = 0; q < kQueries; ++q) {
    const RowVector factor = hn::Set(RowTag(), query[q * problem.query_stride + c]);
    HWY_UNROLL(4)
    for (int64_t v = 0; v < kVectors; ++v) {
      const int64_t block = v / kBlockVectors * problem.d_head + c;
      const T* from = key + block * kKeyBlock + v % kBlockVectors * kRowLanes;
      sums[q * kVectors + v] = hn::MulAdd(factor, load_cached(from), sums[q * kVectors + v]);
    }
  }
}

// Adds weighted values of position t to the sums of kQueries x kVectors vectors of columns.
template <class T, int kQueries, int64_t kVectors>
HWY_INLINE void add_position(const SharedProblem& problem, const T* value, int64_t t,
                             RowVector (&sums)[kQueries * kVectors]) {
  HWY_UNROLL(4)
  for (int q = 0; q < kQueries; ++q) {
    const RowVector weight = hn::Set(RowTag(), problem.weights[q * problem.width + t]);
    HWY_UNROLL(4)
    for (int64_t v = 0; v < kVectors; ++v) {
      const RowVector values = load_cached(value + t * problem.d_value + v * kRowLanes);
      sums[q * kVectors + v] = hn::MulAdd(weight, values, sums[q * kVectors + v]);
    }
  }
}

// weights[q][t] = q_h . k_h of position t / sqrt(Dh) for kBlocks blocks of positions of a head; `query` and `key` point
// to the head and the first block. Several sums are under way at a time, since each waits for itself.
template <class T, int kQueries, int kBlocks>
HWY_INLINE void score_blocks(const SharedProblem& problem, const float* query, const T* key, float* weights) {
  constexpr int64_t kVectors = kBlocks * kBlockVectors;
  const RowTag d;
  RowVector sums[kChains][kQueries * kVectors];
  for (auto& chain : sums) {
    clear(chain);
  }
  int64_t c = 0;
  for (; c + kChains <= problem.d_head; c += kChains) {
    HWY_UNROLL(2)
    for (int64_t chain = 0; chain < kChains; ++chain) {
      add_component<T, kQueries, kBlocks>(problem, query, key, c + chain, sums[chain]);
    }
  }
  for (; c < problem.d_head; ++c) {
    add_component<T, kQueries, kBlocks>(problem, query, key, c, sums[0]);
  }
  const auto scale = hn::Set(d, 1.0F / std::sqrt(static_cast<float>(problem.d_head)));
  for (int q = 0; q < kQueries; ++q) {
    for (int64_t v = 0; v < kVectors; ++v) {
      hn::StoreU(hn::Mul(total(sums, q * kVectors + v), scale), d, weights + q * problem.width + v * kRowLanes);
    }
  }
}

template <class T, int kQueries>
HWY_INLINE void score_head(const SharedProblem& problem, int64_t head) {
  constexpr int kBlocks = kQueries == 1 ? 4 : kQueries == 2 ? 2 : 1;
  const float* query = problem.query + head * problem.d_head;
  const int64_t blocks = (problem.length + kKeyBlock - 1) / kKeyBlock;
  const T* key = static_cast<const T*>(problem.keys) + head * blocks * problem.d_head * kKeyBlock;
  const auto block_at = [&](int64_t block) { return key + block * problem.d_head * kKeyBlock; };
  int64_t block = 0;
  for (; block + kBlocks <= blocks; block += kBlocks) {
    score_blocks<T, kQueries, kBlocks>(problem, query, block_at(block), problem.weights + block * kKeyBlock);
  }
  for (; block + 2 <= blocks; block += 2) {
    score_blocks<T, kQueries, 2>(problem, query, block_at(block), problem.weights + block * kKeyBlock);
  }
  for (; block < blocks; ++block) {
    score_blocks<T, kQueries, 1>(problem, query, block_at(block), problem.weights + block * kKeyBlock);
  }
}

// context_h[columns] = sum_t weights[q][t] v_h[columns] of position t for whole vectors.
template <class T, int kQueries, int64_t kVectors>
HWY_INLINE void sum_head(const SharedProblem& problem, const T* value, float* context) {
  const RowTag d;
  RowVector sums[kChains][kQueries * kVectors];
  for (auto& chain : sums) {
    clear(chain);
  }
  int64_t t = 0;
  for (; t + kChains <= problem.length; t += kChains) {
    HWY_UNROLL(2)
    for (int64_t chain = 0; chain < kChains; ++chain) {
      add_position<T, kQueries, kVectors>(problem, value, t + chain, sums[chain]);
    }
  }
  for (; t < problem.length; ++t) {
    add_position<T, kQueries, kVectors>(problem, value, t, sums[0]);
  }
  for (int q = 0; q < kQueries; ++q) {
    for (int64_t v = 0; v < kVectors; ++v) {
      hn::StoreU(total(sums, q * kVectors + v), d, context + q * problem.context_stride + v * kRowLanes);
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
    const T* value = static_cast<const T*>(problem.values) + h * problem.length * problem.d_value;
    float* context = problem.context + h * problem.d_value;
    int64_t column = 0;
    constexpr int64_t kWide = value_vectors<kQueries>();
    for (; column + kWide * kRowLanes <= problem.d_value; column += kWide * kRowLanes) {
      sum_head<T, kQueries, kWide>(problem, value + column, context + column);
    }
    for (; column + 2 * kRowLanes <= problem.d_value; column += 2 * kRowLanes) {
      sum_head<T, kQueries, 2>(problem, value + column, context + column);
    }
    for (; column + kRowLanes <= problem.d_value; column += kRowLanes) {
      sum_head<T, kQueries, 1>(problem, value + column, context + column);
    }
    if (column < problem.d_value) {
      sum_tail<T, kQueries>(problem, value + column, problem.d_value - column, context + column);
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
  problem.dtype == tensor::DType::kBFloat16 ? attend_with<tensor::BFloat16>(problem, count)
                                            : attend_with<float>(problem, count);
}

}  // namespace dragoman::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/simd.h"

namespace dragoman::ops {
namespace {

HWY_EXPORT(attend_to_shared);

}  // namespace

void attention_shared_kernel(const SharedProblem& problem, int64_t count) {
  DRAGOMAN_DISPATCH(attend_to_shared)(problem, count);
}

}  // namespace dragoman::ops
#endif
