// Included once per instruction set from files that Highway compiles several times; hence no #pragma once.
#if defined(DRAGOMAN_KERNELS_ATTENTION_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_ATTENTION_SOFTMAX_INL_H_
#undef DRAGOMAN_KERNELS_ATTENTION_SOFTMAX_INL_H_
#else
#define DRAGOMAN_KERNELS_ATTENTION_SOFTMAX_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "kernels/cpu/attention/attention_head.h"
#include "kernels/cpu/simd/dropout-inl.h"
#include "kernels/cpu/simd/exp-inl.h"
#include "kernels/cpu/simd/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;
constexpr auto kFloatLanes = static_cast<int64_t>(hn::MaxLanes(FloatTag()));

// Query rows [begin, end) of a head: the columns of the transposed scores.
struct QueryBlock {
  int64_t begin, end;
  int64_t width;   // columns, whole vectors
  int64_t n_keys;  // rows: the keys that some query of the block can see

  int64_t rows() const { return end - begin; }
};

HWY_INLINE QueryBlock query_block(const HeadProblem& p, int64_t begin) {
  const int64_t end = std::min(begin + kQueryBlock, p.n_queries);
  return {begin, end, padded_to_vectors(end - begin), p.visible(end)};
}

// Some neighbouring queries, one a lane, and which keys they can see.
struct QueryLanes {
  int64_t column;      // of the first in its block
  int64_t first_seen;  // keys from here on are visible to some; query i of a window sees keys from begin + i on
  int64_t all_see;     // keys below this are visible to all that see so early a key
  int64_t some_see;    // keys below this are visible to some; query i of the vector sees keys up to all_see + i - 1
  int64_t begin;       // first_seen, or a negative number where the window reaches before the first key
  int64_t all_begin;   // keys from here on are visible to all that see so late a key
  uint64_t n_all_see;  // keys from all_begin to all_see
};

HWY_INLINE QueryLanes query_lanes(const HeadProblem& p, const QueryBlock& block, int64_t column) {
  const int64_t query = block.begin + column, last = query + kFloatLanes - 1;
  const int64_t all_see = std::min(p.visible(query + 1), block.n_keys), all_begin = p.first_visible(last);
  return {column,
          std::min(p.first_visible(query), block.n_keys),
          all_see,
          std::min(p.visible(last + 1), block.n_keys),
          query + 1 - p.window,
          all_begin,
          static_cast<uint64_t>(std::max<int64_t>(all_see - all_begin, 0))};
}

// Calls visit(QueryLanes) for each vector of queries of a block.
template <class Visit>
HWY_INLINE void for_each_lanes(const HeadProblem& p, const QueryBlock& block, Visit visit) {
  for (int64_t column = 0; column < block.width; column += kFloatLanes) {
    visit(query_lanes(p, block, column));
  }
}

// Keeps the lanes that see key s; the others become `otherwise`.
HWY_INLINE FloatVector where_seen(const QueryLanes& lanes, int64_t s, FloatVector x, FloatVector otherwise) {
  if (static_cast<uint64_t>(s - lanes.all_begin) < lanes.n_all_see) {
    return x;
  }
  const FloatTag d;
  if (s >= lanes.all_see) {
    x = hn::IfThenElse(hn::FirstN(d, static_cast<size_t>(s - lanes.all_see + 1)), otherwise, x);
  }
  if (s < lanes.all_begin) {
    x = hn::IfThenElse(hn::FirstN(d, static_cast<size_t>(s - lanes.begin + 1)), x, otherwise);
  }
  return x;
}

// Calls visit(s) for the keys of a block that none of the lanes can see.
template <class Visit>
HWY_INLINE void for_each_unseen(const QueryLanes& lanes, const QueryBlock& block, Visit visit) {
  for (int64_t s = 0; s < lanes.first_seen; ++s) {
    visit(s);
  }
  for (int64_t s = lanes.some_see; s < block.n_keys; ++s) {
    visit(s);
  }
}

HWY_INLINE FloatVector largest_scores(const HeadProblem& p, const QueryLanes& lanes, const float* scores,
                                      int64_t width) {
  const FloatTag d;
  const FloatVector lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  const auto score = [&](int64_t s) HWY_ATTR {
    return p.hidden(s) ? lowest : where_seen(lanes, s, hn::LoadU(d, scores + s * width), lowest);
  };
  FloatVector even = lowest, odd = lowest;
  int64_t s = lanes.first_seen;
  for (; s + 2 <= lanes.some_see; s += 2) {
    even = hn::Max(score(s), even);
    odd = hn::Max(score(s + 1), odd);
  }
  if (s < lanes.some_see) {
    even = hn::Max(score(s), even);
  }
  return hn::Max(even, odd);
}

// exp2(power_scale * (score - largest)) of one key; 0 where it is not seen. The difference comes first: it is exactly 0
// for the largest score, however large that is.
struct Power {
  FloatVector scale, largest;

  HWY_INLINE FloatVector operator()(const QueryLanes& lanes, int64_t s, FloatVector score) const {
    const FloatTag d;
    return where_seen(lanes, s, vector_exp2(d, hn::Mul(hn::Sub(score, largest), scale)), hn::Zero(d));
  }
};

// Of rows without any visible key the largest score is -infinity; their powers become 0, not NaN.
HWY_INLINE Power power_of(const HeadProblem& p, FloatVector largest) {
  const FloatTag d;
  const auto nothing = hn::Eq(largest, hn::Set(d, -std::numeric_limits<float>::infinity()));
  return {hn::Set(d, p.power_scale()), hn::IfThenZeroElse(nothing, largest)};
}

// Turns the scores of some queries into weights, in place.
HWY_INLINE void softmax_lanes(const HeadProblem& p, const QueryBlock& block, const QueryLanes& lanes, float* scores) {
  const FloatTag d;
  const FloatVector zero = hn::Zero(d);
  const FloatVector largest = largest_scores(p, lanes, scores, block.width);
  const Power power = power_of(p, largest);
  FloatVector sum = zero;
  for (int64_t s = lanes.first_seen; s < lanes.some_see; ++s) {
    float* at = scores + s * block.width;
    const FloatVector exponential = p.hidden(s) ? zero : power(lanes, s, hn::LoadU(d, at));
    sum = hn::Add(sum, exponential);
    hn::StoreU(exponential, d, at);
  }
  const FloatVector inverse = hn::IfThenZeroElse(hn::Eq(sum, zero), hn::Div(hn::Set(d, 1.0F), sum));
  for (int64_t s = lanes.first_seen; s < lanes.some_see; ++s) {
    float* at = scores + s * block.width;
    hn::StoreU(hn::Mul(hn::LoadU(d, at), inverse), d, at);
  }
  for_each_unseen(lanes, block, [&](int64_t s) HWY_ATTR { hn::StoreU(zero, d, scores + s * block.width); });
  const int64_t query = block.begin + lanes.column;
  if (p.largest != nullptr && query < block.end) {
    const auto valid = hn::FirstN(d, static_cast<size_t>(block.end - query));
    hn::BlendedStore(largest, valid, d, p.largest + query);
    hn::BlendedStore(inverse, valid, d, p.inverse_sum + query);
  }
}

// Of softmax_lanes, from the scores and the gradient of the dropped weights. With w = weights, f = dropout factors
// (1 without dropout) and g = f * gradient: scores become f * w, gradients become those of the unscaled scores,
// scale * w * (g - sum_s w g).
template <bool kDrops>
HWY_INLINE void softmax_lanes_backward(const HeadProblem& p, const QueryBlock& block, const QueryLanes& lanes,
                                       const HeadScratch& scratch) {
  const FloatTag d;
  const FloatVector zero = hn::Zero(d);
  const int64_t query = block.begin + lanes.column, width = block.width;
  const auto valid = hn::FirstN(d, static_cast<size_t>(std::max<int64_t>(block.end - query, 0)));
  const Power power = power_of(p, hn::MaskedLoad(valid, d, p.largest + query));
  const FloatVector inverse = hn::MaskedLoad(valid, d, p.inverse_sum + query);
  float* weights = scratch.weights + lanes.column;
  float* grads = scratch.grad_weights + lanes.column;
  const float* factors = kDrops ? scratch.factors + lanes.column : nullptr;
  FloatVector mean = zero;
  for (int64_t s = lanes.first_seen; s < lanes.some_see; ++s) {
    const FloatVector weight =
        p.hidden(s) ? zero : hn::Mul(power(lanes, s, hn::LoadU(d, weights + s * width)), inverse);
    FloatVector grad = hn::LoadU(d, grads + s * width);
    if constexpr (kDrops) {
      grad = hn::Mul(grad, hn::LoadU(d, factors + s * width));
      hn::StoreU(grad, d, grads + s * width);
    }
    mean = hn::MulAdd(weight, grad, mean);
    hn::StoreU(weight, d, weights + s * width);
  }
  const FloatVector scale = hn::Set(d, p.scale);
  for (int64_t s = lanes.first_seen; s < lanes.some_see; ++s) {
    const FloatVector weight = hn::LoadU(d, weights + s * width);
    const FloatVector centred = hn::Sub(hn::LoadU(d, grads + s * width), mean);
    hn::StoreU(hn::Mul(hn::Mul(weight, scale), centred), d, grads + s * width);
    if constexpr (kDrops) {
      hn::StoreU(hn::Mul(weight, hn::LoadU(d, factors + s * width)), d, weights + s * width);
    }
  }
  for_each_unseen(lanes, block, [&](int64_t s) HWY_ATTR {
    hn::StoreU(zero, d, weights + s * width);
    hn::StoreU(zero, d, grads + s * width);
  });
}

// The place of bias[t - s] of the first lane's query t, for key s.
HWY_INLINE int64_t bias_place(const QueryBlock& block, const QueryLanes& lanes, int64_t s) {
  return block.begin + lanes.column - s;
}

// scratch.weights += the bias, divided by the scale that the scores get later.
HWY_INLINE void add_bias(const HeadProblem& p, const HeadScratch& scratch, const QueryBlock& block) {
  const FloatTag d;
  const FloatVector unscaled = hn::Set(d, 1.0F / p.scale);
  for_each_lanes(p, block, [&](const QueryLanes& lanes) HWY_ATTR {
    for (int64_t s = lanes.first_seen; s < lanes.some_see; ++s) {
      float* at = scratch.weights + lanes.column + s * block.width;
      const FloatVector bias = hn::LoadU(d, p.bias + bias_place(block, lanes, s));
      hn::StoreU(hn::MulAdd(bias, unscaled, hn::LoadU(d, at)), d, at);
    }
  });
}

// Adds up the gradient of the bias from the gradient of the products in scratch.grad_weights.
HWY_INLINE void add_bias_gradient(const HeadProblem& p, const HeadScratch& scratch, const QueryBlock& block) {
  const FloatTag d;
  const FloatVector unscaled = hn::Set(d, 1.0F / p.scale);
  for_each_lanes(p, block, [&](const QueryLanes& lanes) HWY_ATTR {
    for (int64_t s = lanes.first_seen; s < lanes.some_see; ++s) {
      float* to = p.grad_bias + bias_place(block, lanes, s);
      const FloatVector grad = hn::LoadU(d, scratch.grad_weights + lanes.column + s * block.width);
      hn::StoreU(hn::MulAdd(grad, unscaled, hn::LoadU(d, to)), d, to);
    }
  });
}

// Turns scratch.weights from scores into weights.
HWY_INLINE void softmax_block(const HeadProblem& p, const HeadScratch& scratch, const QueryBlock& block) {
  if (p.bias != nullptr) {
    add_bias(p, scratch, block);
  }
  for_each_lanes(p, block, [&](const QueryLanes& lanes) HWY_ATTR {
    softmax_lanes(p, block, lanes, scratch.weights + lanes.column);
  });
}

// scratch.factors [S, W]: the dropout factors of the block.
HWY_INLINE void fill_factors(const HeadProblem& p, const HeadScratch& scratch, const QueryBlock& block) {
  RowMasks masks(*p.dropout, block.n_keys);
  for (int64_t t = block.begin; t < block.end; ++t) {
    masks.make((p.first_query + t) * p.n_heads + p.head);
    float* to = scratch.row_factors + (t - block.begin) * block.n_keys;
    for_each_vector(block.n_keys, [&](auto vector, int64_t s) HWY_ATTR { vector.store(masks.factors(s), to + s); });
  }
  transpose(scratch.row_factors, block.n_keys, block.rows(), block.n_keys, scratch.factors, block.width);
}

// scratch.weights *= the dropout factors, if there are any.
HWY_INLINE void drop_weights(const HeadProblem& p, const HeadScratch& scratch, const QueryBlock& block) {
  if (p.dropout == nullptr) {
    return;
  }
  const FloatTag d;
  fill_factors(p, scratch, block);
  for (int64_t i = 0; i < block.n_keys * block.width; i += kFloatLanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, scratch.weights + i), hn::LoadU(d, scratch.factors + i)), d, scratch.weights + i);
  }
}

// Of the scores in scratch.weights and the gradient of the dropped weights in scratch.grad_weights: makes of them the
// dropped weights and the gradient of the scores.
HWY_INLINE void softmax_block_backward(const HeadProblem& p, const HeadScratch& scratch, const QueryBlock& block) {
  if (p.bias != nullptr) {
    add_bias(p, scratch, block);
  }
  if (p.dropout != nullptr) {
    fill_factors(p, scratch, block);
    for_each_lanes(p, block,
                   [&](const QueryLanes& lanes) HWY_ATTR { softmax_lanes_backward<true>(p, block, lanes, scratch); });
  } else {
    for_each_lanes(p, block,
                   [&](const QueryLanes& lanes) HWY_ATTR { softmax_lanes_backward<false>(p, block, lanes, scratch); });
  }
  if (p.grad_bias != nullptr) {
    add_bias_gradient(p, scratch, block);
  }
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
