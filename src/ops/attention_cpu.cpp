#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include "ops/attention_kernel-inl.h"

#if HWY_ONCE
#include <utility>

#include "ops/attention_cpu.h"
#include "ops/simd.h"

namespace dragoman::ops {
namespace {

HWY_EXPORT(head_forward);
HWY_EXPORT(head_backward);
HWY_EXPORT(head_weights);

int64_t longest(const Tensor& offsets) {
  int64_t length = 0;
  const auto ends = offsets.span<int32_t>();
  for (size_t index = 1; index < ends.size(); ++index) {
    length = std::max<int64_t>(length, ends[index] - ends[index - 1]);
  }
  return length;
}

// Owns the memory behind a HeadScratch large enough for every sentence of the batch.
class ScratchOwner {
 public:
  ScratchOwner(const AttentionInputs& inputs, bool backward) {
    const int64_t padded = padded_keys(longest(inputs.bounds.key_offsets));
    const int64_t d_value = backward ? inputs.d_value() : 0;
    const int64_t grad_rows = backward ? kQueryBlock : 0;
    memory_ = Tensor::empty({inputs.d_head() + d_value + kQueryBlock + grad_rows + 2, padded});
    float* next = memory_.data<float>();
    const auto take = [&](int64_t rows) { return std::exchange(next, next + rows * padded); };
    scratch_ = {take(inputs.d_head()), take(d_value), take(kQueryBlock), take(grad_rows), take(1), take(1)};
    std::fill_n(scratch_.row_scales, padded, 0.0F);  // multiply_row reads whole vectors
  }
  const HeadScratch& get() const { return scratch_; }

 private:
  Tensor memory_;
  HeadScratch scratch_{};
};

template <typename T, typename AnyTensor>
MatrixView<T> head_view(AnyTensor& matrix, int64_t row, int64_t head, int64_t width) {
  if (!matrix.defined()) {
    return {};
  }
  T* first = matrix.template data<float>();
  return {first + row * matrix.stride(0) + head * width, matrix.stride(0)};
}

// Fills mask_bias of the sentence; returns its lowest allowed key.
int64_t fill_mask_bias(const Tensor& key_mask, int64_t first_key, int64_t n_keys, float* mask_bias) {
  if (!key_mask.defined()) {
    return 0;
  }
  const bool* allowed = key_mask.data<bool>() + first_key;
  std::fill_n(mask_bias, padded_keys(n_keys), -std::numeric_limits<float>::infinity());
  for (int64_t s = 0; s < n_keys; ++s) {
    mask_bias[s] = allowed[s] ? 0.0F : mask_bias[s];
  }
  return std::find(allowed, allowed + n_keys, true) - allowed;
}

// Calls visit(HeadProblem, first key row) for each head of each sentence; sentences without queries are skipped.
template <typename Visit>
void for_each_head(const AttentionInputs& inputs, const HeadScratch& scratch, Visit visit) {
  const auto queries = inputs.bounds.query_offsets.span<int32_t>();
  const auto keys = inputs.bounds.key_offsets.span<int32_t>();
  const Dropout dropout = weight_dropout(inputs.options);
  HeadProblem p;
  p.d_head = inputs.d_head();
  p.d_value = inputs.d_value();
  p.n_heads = inputs.n_heads();
  p.masked = inputs.bounds.key_mask.defined();
  p.causal = inputs.options.causal;
  p.dropout = dropout.probability > 0 ? &dropout : nullptr;
  for (size_t sentence = 0; sentence + 1 < queries.size(); ++sentence) {
    const int64_t first_key = keys[sentence];
    p.first_query = queries[sentence];
    p.n_queries = queries[sentence + 1] - p.first_query;
    p.n_keys = keys[sentence + 1] - first_key;
    p.first_allowed = fill_mask_bias(inputs.bounds.key_mask, first_key, p.n_keys, scratch.mask_bias);
    for (p.head = 0; p.head < p.n_heads && p.n_queries > 0; ++p.head) {
      p.query = head_view<const float>(inputs.query, p.first_query, p.head, p.d_head);
      p.key = head_view<const float>(inputs.key, first_key, p.head, p.d_head);
      p.value = head_view<const float>(inputs.value, first_key, p.head, p.d_value);
      visit(p, first_key);
    }
  }
}

}  // namespace

void attention_forward(const AttentionInputs& inputs, Tensor& context, Tensor& log_sum_exp) {
  const ScratchOwner scratch(inputs, false);
  for_each_head(inputs, scratch.get(), [&](const HeadProblem& p, int64_t) {
    DRAGOMAN_DISPATCH(head_forward)
    (p, scratch.get(), head_view<float>(context, p.first_query, p.head, p.d_value),
     log_sum_exp.data<float>() + p.first_query * p.n_heads + p.head);
  });
}

void attention_backward_accumulate(const AttentionInputs& inputs, const Tensor& log_sum_exp, const Tensor& grad_context,
                                   AttentionGradients& gradients) {
  const ScratchOwner scratch(inputs, true);
  for_each_head(inputs, scratch.get(), [&](const HeadProblem& p, int64_t first_key) {
    const HeadGradients grads{head_view<float>(gradients.query, p.first_query, p.head, p.d_head),
                              head_view<float>(gradients.key, first_key, p.head, p.d_head),
                              head_view<float>(gradients.value, first_key, p.head, p.d_value)};
    DRAGOMAN_DISPATCH(head_backward)
    (p, scratch.get(), log_sum_exp.data<float>() + p.first_query * p.n_heads + p.head,
     head_view<const float>(grad_context, p.first_query, p.head, p.d_value), grads);
  });
}

void attention_weights_forward(const AttentionInputs& inputs, Tensor& weights) {
  const ScratchOwner scratch(inputs, false);
  for_each_head(inputs, scratch.get(), [&](const HeadProblem& p, int64_t) {
    DRAGOMAN_DISPATCH(head_weights)(p, scratch.get(), weights.data<float>() + p.head * p.n_queries * p.n_keys);
  });
}

}  // namespace dragoman::ops
#endif
