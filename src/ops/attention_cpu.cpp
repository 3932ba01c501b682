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

HWY_EXPORT(gather_heads);
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
    const int64_t width = std::min(padded_to_vectors(longest(inputs.bounds.query_offsets)), kQueryBlock);
    const int64_t n_keys = longest(inputs.bounds.key_offsets);
    const int64_t drops = inputs.options.dropout.probability > 0 ? 1 : 0;
    const int64_t gradients = backward ? 1 : 0;
    memory_ =
        Tensor::empty({inputs.d_head() + gradients * inputs.d_value() + (1 + gradients + 2 * drops) * n_keys, width});
    float* next = memory_.data<float>();
    const auto take = [&](int64_t rows) { return std::exchange(next, next + rows * width); };
    scratch_ = {take(inputs.d_head()), take(gradients * inputs.d_value()),
                take(n_keys),          take(gradients * n_keys),
                take(drops * n_keys),  take(drops * n_keys)};
  }
  const HeadScratch& get() const { return scratch_; }

 private:
  Tensor memory_;
  HeadScratch scratch_{};
};

template <typename T, typename AnyTensor>
MatrixView<T> view_of(AnyTensor& matrix) {
  return matrix.defined() ? MatrixView<T>{matrix.template data<float>(), matrix.stride(0)} : MatrixView<T>{};
}

// Rows of one sentence after another, rearranged so that each head has a dense matrix.
class HeadRows {
 public:
  HeadRows() = default;
  HeadRows(const Tensor& rows, int64_t n_heads, int64_t longest)
      : from_(view_of<const float>(rows)), n_heads_(n_heads), width_(rows.dim(1) / n_heads) {
    memory_ = Tensor::empty({n_heads, longest, width_});
    to_ = memory_.data<float>();
  }
  void gather(int64_t first_row, int64_t rows) {
    rows_ = rows;
    DRAGOMAN_DISPATCH(gather_heads)(from_.part(first_row, 0), rows, n_heads_, width_, to_);
  }
  MatrixView<const float> head(int64_t index) const { return {to_ + index * rows_ * width_, width_}; }

 private:
  MatrixView<const float> from_;
  int64_t n_heads_ = 0, width_ = 0, rows_ = 0;
  Tensor memory_;
  float* to_ = nullptr;
};

// The heads of a call, one after another.
class Heads {
 public:
  /// @param stats  [2, H, Nq], or null when not wanted;  @param grad_context  [Nq, H*Dv], or undefined
  Heads(const AttentionInputs& inputs, float* stats, const Tensor& grad_context)
      : inputs_(inputs), stats_(stats), dropout_(weight_dropout(inputs.options)) {
    const int64_t n_queries = longest(inputs.bounds.query_offsets), n_keys = longest(inputs.bounds.key_offsets);
    query_ = HeadRows(inputs.query, inputs.n_heads(), n_queries);
    key_ = HeadRows(inputs.key, inputs.n_heads(), n_keys);
    if (inputs.value.defined()) {
      value_ = HeadRows(inputs.value, inputs.n_heads(), n_keys);
    }
    if (grad_context.defined()) {
      grad_context_ = HeadRows(grad_context, inputs.n_heads(), n_queries);
    }
  }

  /// Calls visit(HeadProblem, first key row) for each head of each sentence.
  template <typename Visit>
  void for_each(Visit visit) {
    const auto queries = inputs_.bounds.query_offsets.span<int32_t>();
    const auto keys = inputs_.bounds.key_offsets.span<int32_t>();
    const int64_t n_rows = inputs_.query.dim(0);
    HeadProblem p = any_head();
    for (size_t sentence = 0; sentence + 1 < queries.size(); ++sentence) {
      const int64_t first_key = keys[sentence];
      p.first_query = queries[sentence];
      p.n_queries = queries[sentence + 1] - p.first_query;
      p.n_keys = keys[sentence + 1] - first_key;
      p.key_mask = key_mask_ == nullptr ? nullptr : key_mask_ + first_key;
      gather(p, first_key);
      for (p.head = 0; p.head < p.n_heads; ++p.head) {
        p.query = query_.head(p.head);
        p.key = key_.head(p.head);
        p.value = value_.head(p.head);
        p.grad_context = grad_context_.head(p.head);
        if (stats_ != nullptr) {
          p.largest = stats_ + p.head * n_rows + p.first_query;
          p.inverse_sum = p.largest + p.n_heads * n_rows;
        }
        visit(p, first_key);
      }
    }
  }

 private:
  HeadProblem any_head() const {
    HeadProblem p;
    p.d_head = inputs_.d_head();
    p.d_value = inputs_.d_value();
    p.n_heads = inputs_.n_heads();
    p.causal = inputs_.options.causal;
    p.dropout = dropout_.probability > 0 ? &dropout_ : nullptr;
    return p;
  }

  void gather(const HeadProblem& p, int64_t first_key) {
    query_.gather(p.first_query, p.n_queries);
    key_.gather(first_key, p.n_keys);
    value_.gather(first_key, p.n_keys);
    grad_context_.gather(p.first_query, p.n_queries);
  }

  const AttentionInputs& inputs_;
  HeadRows query_, key_, value_, grad_context_;
  float* const stats_;
  const bool* const key_mask_ = inputs_.bounds.key_mask.defined() ? inputs_.bounds.key_mask.data<bool>() : nullptr;
  const Dropout dropout_;
};

}  // namespace

void attention_forward(const AttentionInputs& inputs, Tensor& context, Tensor& stats) {
  const ScratchOwner scratch(inputs, false);
  const MatrixView<float> output = view_of<float>(context);
  Heads(inputs, stats.data<float>(), {}).for_each([&](const HeadProblem& p, int64_t) {
    DRAGOMAN_DISPATCH(head_forward)(p, scratch.get(), output.part(p.first_query, p.head * p.d_value));
  });
}

void attention_backward(const AttentionInputs& inputs, Tensor stats, const Tensor& grad_context,
                        AttentionGradients& gradients) {
  const ScratchOwner scratch(inputs, true);
  const auto query = view_of<float>(gradients.query), key = view_of<float>(gradients.key);
  const auto value = view_of<float>(gradients.value);
  Heads(inputs, stats.data<float>(), grad_context).for_each([&](const HeadProblem& p, int64_t first_key) {
    const HeadGradients grads{query.part(p.first_query, p.head * p.d_head), key.part(first_key, p.head * p.d_head),
                              value.part(first_key, p.head * p.d_value)};
    DRAGOMAN_DISPATCH(head_backward)(p, scratch.get(), grads);
  });
}

void attention_weights_forward(const AttentionInputs& inputs, Tensor& weights) {
  const ScratchOwner scratch(inputs, false);
  Heads(inputs, nullptr, {}).for_each([&](const HeadProblem& p, int64_t) {
    DRAGOMAN_DISPATCH(head_weights)(p, scratch.get(), weights.data<float>() + p.head * p.n_queries * p.n_keys);
  });
}

}  // namespace dragoman::ops
#endif
