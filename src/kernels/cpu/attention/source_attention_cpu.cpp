#include "kernels/cpu/attention/source_attention_cpu.h"

#include "kernels/cpu/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention/source_attention_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/simd/activation-inl.h"
#include "kernels/row_of.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace {

// v . tanh(query + key), added in lanes and a fixed order.
float additive_score(const float* query, const float* key, const float* score_weight, int64_t width) {
  const RowTag d;
  RowVector sum = hn::Zero(d);
  for_each_vector(width, [&](auto part, int64_t c) HWY_ATTR {  // past the end, the weight is loaded as 0
    const RowVector y = tanh_of(hn::Add(part.load(query + c), part.load(key + c)));
    sum = hn::MulAdd(part.load(score_weight + c), y, sum);
  });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// context = sum_j weights[j] * values[j]
void weighted_sum(const float* weights, const Tensor& values, float* context) {
  const RowTag d;
  const int64_t count = values.dim(0), stride = values.stride(0);
  for_each_vector(values.dim(1), [&](auto part, int64_t c) HWY_ATTR {
    RowVector sum = hn::Zero(d);
    const float* value = values.data<float>() + c;
    for (int64_t j = 0; j < count; ++j, value += stride) {
      sum = hn::MulAdd(hn::Set(d, weights[j]), part.load(value), sum);
    }
    part.store(sum, context + c);
  });
}

void attend_rows(const SourceAttentionForward& in) {
  const int64_t width = in.query.dim(1);
  const float* score_weight = in.kind == ScoreKind::kAdditive ? in.score_weight.data<float>() : nullptr;
  for (int64_t n = 0; n < in.query.dim(0); ++n) {
    const SourceRows& source = in.sources[static_cast<size_t>(in.sentences[static_cast<size_t>(n)])];
    const float* query = row_of<float>(in.query, n);
    float* weights = row_of<float>(in.weights, n);
    const int64_t count = source.keys.dim(0);
    for (int64_t j = 0; j < count; ++j) {
      const float* key = row_of<float>(source.keys, j);
      weights[j] =
          score_weight == nullptr ? dot_rows(query, key, width) : additive_score(query, key, score_weight, width);
    }
    softmax_of_row(weights, count, weights);
    std::fill(weights + count, weights + in.weights.dim(1), 0.0F);
    weighted_sum(weights, source.values, row_of<float>(in.context, n));
  }
}

// Computes the gradients of the scores, and adds those of the values.
void score_gradients(const float* weights, const float* grad_context, const SourceRows& source, SourceRows& grad_source,
                     float* grads) {
  const int64_t count = source.values.dim(0), width = source.values.dim(1);
  float mean = 0;
  for (int64_t j = 0; j < count; ++j) {
    grads[j] = dot_rows(grad_context, row_of<float>(source.values, j), width);
    mean += weights[j] * grads[j];
    const RowVector weight = hn::Set(RowTag(), weights[j]);
    float* grad_value = row_of<float>(grad_source.values, j);
    map_two_rows(grad_context, grad_value, width, grad_value,
                 [&](RowVector grad, RowVector sum) HWY_ATTR { return hn::MulAdd(weight, grad, sum); });
  }
  for (int64_t j = 0; j < count; ++j) {
    grads[j] = weights[j] * (grads[j] - mean);
  }
}

struct QueryGradients {
  const float *scores, *query;
  float *grad_query, *grad_score_weight;  // the latter of additive scores
};

// score_j = v . y_j, y_j = tanh(q + k_j)
void additive_backward(const QueryGradients& of, const float* score_weight, const Tensor& keys, Tensor& grad_keys) {
  const RowTag d;
  const int64_t count = keys.dim(0);
  for_each_vector(keys.dim(1), [&](auto part, int64_t c) HWY_ATTR {
    const RowVector query = part.load(of.query + c), weight = part.load(score_weight + c);
    RowVector grad_query = hn::Zero(d), grad_weight = part.load(of.grad_score_weight + c);
    for (int64_t j = 0; j < count; ++j) {
      const RowVector y = tanh_of(hn::Add(query, part.load(row_of<float>(keys, j) + c)));
      const RowVector grad = hn::Set(d, of.scores[j]);
      const RowVector before = hn::Mul(hn::Mul(grad, weight), hn::NegMulAdd(y, y, hn::Set(d, 1.0F)));
      float* grad_key = row_of<float>(grad_keys, j) + c;
      grad_weight = hn::MulAdd(grad, y, grad_weight);
      grad_query = hn::Add(grad_query, before);
      part.store(hn::Add(part.load(grad_key), before), grad_key);
    }
    part.store(grad_query, of.grad_query + c);
    part.store(grad_weight, of.grad_score_weight + c);
  });
}

// score_j = q . k_j
void multiplicative_backward(const QueryGradients& of, const Tensor& keys, Tensor& grad_keys) {
  const RowTag d;
  const int64_t count = keys.dim(0);
  for_each_vector(keys.dim(1), [&](auto part, int64_t c) HWY_ATTR {
    const RowVector query = part.load(of.query + c);
    RowVector grad_query = hn::Zero(d);
    for (int64_t j = 0; j < count; ++j) {
      const RowVector grad = hn::Set(d, of.scores[j]);
      float* grad_key = row_of<float>(grad_keys, j) + c;
      grad_query = hn::MulAdd(grad, part.load(row_of<float>(keys, j) + c), grad_query);
      part.store(hn::MulAdd(grad, query, part.load(grad_key)), grad_key);
    }
    part.store(grad_query, of.grad_query + c);
  });
}

void attend_rows_backward(const SourceAttentionBackward& in) {
  Tensor scores = Tensor::empty({in.weights.dim(1)});
  for (int64_t n = 0; n < in.query.dim(0); ++n) {
    const auto sentence = static_cast<size_t>(in.sentences[static_cast<size_t>(n)]);
    const SourceRows& source = in.sources[sentence];
    SourceRows& grad_source = in.grad_sources[sentence];
    score_gradients(row_of<float>(in.weights, n), row_of<float>(in.grad_context, n), source, grad_source,
                    scores.data<float>());
    const bool is_additive = in.kind == ScoreKind::kAdditive;
    const QueryGradients of{scores.data<float>(), row_of<float>(in.query, n), row_of<float>(in.grad_query, n),
                            is_additive ? in.grad_score_weight.data<float>() : nullptr};
    if (is_additive) {
      additive_backward(of, in.score_weight.data<float>(), source.keys, grad_source.keys);
    } else {
      multiplicative_backward(of, source.keys, grad_source.keys);
    }
  }
}

}  // namespace
}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::kernels {

HWY_EXPORT(attend_rows);
HWY_EXPORT(attend_rows_backward);

void source_attention_cpu(const SourceAttentionForward& attention) {
  DRAGOMAN_DISPATCH(attend_rows)(attention);
}

void source_attention_backward_cpu(const SourceAttentionBackward& attention) {
  DRAGOMAN_DISPATCH(attend_rows_backward)(attention);
}

}  // namespace dragoman::kernels
#endif
