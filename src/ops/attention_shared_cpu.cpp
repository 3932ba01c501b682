#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention_shared_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include "ops/attention_shared_cpu.h"
#include "ops/row_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops::HWY_NAMESPACE {

constexpr int64_t kRowLanes = HWY_MAX_BYTES / sizeof(float);
constexpr int64_t kBlockVectors = kKeyBlock / kRowLanes;
constexpr int64_t kValueVectors = HWY_TARGET == HWY_AVX3 ? 4 : 2;  // of a head at a time: sums stay in registers

// weights[q][t] = q_h . k_h of position t / sqrt(Dh) for all positions of a head.
template <int kQueries>
HWY_INLINE void score_head(const SharedProblem& problem, const SharedKeys& keys, int64_t head) {
  const RowTag d;
  const float scale = 1.0F / std::sqrt(static_cast<float>(problem.d_head));
  const float* query = problem.query + head * problem.d_head;
  const int64_t blocks = keys.keys.dim(1);
  const float* key = keys.keys.data<float>() + head * blocks * problem.d_head * kKeyBlock;
  for (int64_t block = 0; block < blocks; ++block) {
    RowVector sums[kQueries][kBlockVectors];
    for (auto& row : sums) {
      for (RowVector& sum : row) {
        sum = hn::Zero(d);
      }
    }
    for (int64_t c = 0; c < problem.d_head; ++c, key += kKeyBlock) {
      HWY_UNROLL(4)
      for (int q = 0; q < kQueries; ++q) {
        const RowVector factor = hn::Set(d, query[q * problem.query_stride + c]);
        HWY_UNROLL(2)
        for (int64_t v = 0; v < kBlockVectors; ++v) {
          sums[q][v] = hn::MulAdd(factor, hn::LoadU(d, key + v * kRowLanes), sums[q][v]);
        }
      }
    }
    for (int q = 0; q < kQueries; ++q) {
      for (int64_t v = 0; v < kBlockVectors; ++v) {
        const RowVector score = hn::Mul(sums[q][v], hn::Set(d, scale));
        hn::StoreU(score, d, problem.weights + q * problem.width + block * kKeyBlock + v * kRowLanes);
      }
    }
  }
}

// context_h[columns] = sum_t weights[q][t] v_h[columns] of position t, in the order of t, for whole vectors.
template <int kQueries, int64_t kVectors>
HWY_INLINE void sum_head(const SharedProblem& problem, const SharedKeys& keys, const float* value, float* context) {
  const RowTag d;
  RowVector sums[kQueries][kVectors];
  for (auto& row : sums) {
    for (RowVector& sum : row) {
      sum = hn::Zero(d);
    }
  }
  for (int64_t t = 0; t < keys.length; ++t, value += problem.d_value) {
    HWY_UNROLL(4)
    for (int q = 0; q < kQueries; ++q) {
      const RowVector weight = hn::Set(d, problem.weights[q * problem.width + t]);
      HWY_UNROLL(4)
      for (int64_t v = 0; v < kVectors; ++v) {
        sums[q][v] = hn::MulAdd(weight, hn::LoadU(d, value + v * kRowLanes), sums[q][v]);
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
template <int kQueries>
HWY_INLINE void sum_tail(const SharedProblem& problem, const SharedKeys& keys, const float* value, int64_t columns,
                         float* context) {
  const RowTag d;
  const auto mask = hn::FirstN(d, static_cast<size_t>(columns));
  for (int q = 0; q < kQueries; ++q) {
    RowVector sum = hn::Zero(d);
    for (int64_t t = 0; t < keys.length; ++t) {
      const RowVector weight = hn::Set(d, problem.weights[q * problem.width + t]);
      sum = hn::MulAdd(weight, hn::MaskedLoad(mask, d, value + t * problem.d_value), sum);
    }
    hn::BlendedStore(sum, mask, d, context + q * problem.context_stride);
  }
}

template <int kQueries>
void attend(const SharedProblem& problem, const SharedKeys& keys) {
  for (int64_t h = 0; h < problem.n_heads; ++h) {
    score_head<kQueries>(problem, keys, h);
    for (int q = 0; q < kQueries && keys.length > 0; ++q) {
      normalise_row(problem.weights + q * problem.width, keys.length);
    }
    const float* value = keys.values.data<float>() + h * keys.length * problem.d_value;
    float* context = problem.context + h * problem.d_value;
    int64_t column = 0;
    for (; column + kValueVectors * kRowLanes <= problem.d_value; column += kValueVectors * kRowLanes) {
      sum_head<kQueries, kValueVectors>(problem, keys, value + column, context + column);
    }
    for (; column + kRowLanes <= problem.d_value; column += kRowLanes) {
      sum_head<kQueries, 1>(problem, keys, value + column, context + column);
    }
    if (column < problem.d_value) {
      sum_tail<kQueries>(problem, keys, value + column, problem.d_value - column, context + column);
    }
  }
}

void attend_to_shared(const SharedProblem& problem, const SharedKeys& keys, int64_t count) {
  switch (count) {
    case 1:
      return attend<1>(problem, keys);
    case 2:
      return attend<2>(problem, keys);
    case 3:
      return attend<3>(problem, keys);
    default:
      return attend<kSharedQueries>(problem, keys);
  }
}

}  // namespace dragoman::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/simd.h"

namespace dragoman::ops {
namespace {

HWY_EXPORT(attend_to_shared);

}  // namespace

void attention_shared_kernel(const SharedProblem& problem, const SharedKeys& keys, int64_t count) {
  DRAGOMAN_DISPATCH(attend_to_shared)(problem, keys, count);
}

}  // namespace dragoman::ops
#endif
