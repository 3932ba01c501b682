#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include "ops/attention_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops::HWY_NAMESPACE {

// Asks for the same columns of as many rows behind these: those of the next sentence, which come when all heads of this
// one are done. Pieces of rows this short are not foreseen by the processor.
void ask_for_next(MatrixView<const tensor::BFloat16> rows, int64_t count, int64_t columns) {
  for (int64_t row = count; row < 2 * count; ++row) {
    const auto* const first = reinterpret_cast<const char*>(rows.row(row));
    for (int64_t byte = 0; byte < columns * static_cast<int64_t>(sizeof(tensor::BFloat16)); byte += 64) {
      __builtin_prefetch(first + byte, 0, 2);
    }
  }
}

void widen_rows(MatrixView<const tensor::BFloat16> from, int64_t rows, int64_t columns, MatrixView<float> to) {
  ask_for_next(from, rows, columns);
  for (int64_t row = 0; row < rows; ++row) {
    map_row(from.row(row), columns, to.row(row), [](RowVector v) HWY_ATTR { return v; });
  }
}

void round_rows(MatrixView<const float> from, int64_t rows, int64_t columns, MatrixView<tensor::BFloat16> to) {
  ask_for_next({to.data, to.stride}, rows, columns);
  for (int64_t row = 0; row < rows; ++row) {
    map_row(from.row(row), columns, to.row(row), [](RowVector v) HWY_ATTR { return v; });
  }
}

}  // namespace dragoman::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <utility>

#include "ops/attention_cpu.h"
#include "ops/simd.h"

namespace dragoman::ops {
namespace {

HWY_EXPORT(head_forward);
HWY_EXPORT(head_backward);
HWY_EXPORT(head_weights);
HWY_EXPORT(widen_rows);
HWY_EXPORT(round_rows);

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
  return {matrix.template data<std::remove_const_t<T>>(), matrix.stride(0)};
}

// Rows of one head, in float32. Those of a bfloat16 matrix have a copy, one head's at a time.
class HeadInput {
 public:
  // @param most_rows  of a head;  @param width  columns of a head
  HeadInput(const Tensor& matrix, int64_t most_rows, int64_t width) : matrix_(matrix), width_(width) {
    if (matrix.defined() && is_bfloat16(matrix)) {
      copy_ = Tensor::empty({most_rows, width});
    }
  }

  MatrixView<const float> rows(int64_t first, int64_t count, int64_t head) {
    if (!matrix_.defined()) {
      return {};
    }
    if (!copy_.defined()) {
      return view_of<const float>(matrix_).part(first, head * width_);
    }
    const auto from = view_of<const tensor::BFloat16>(matrix_).part(first, head * width_);
    DRAGOMAN_DISPATCH(widen_rows)(from, count, width_, view_of<float>(copy_));
    return {copy_.data<float>(), width_};
  }

 private:
  const Tensor& matrix_;
  int64_t width_;
  Tensor copy_;
};

// The same for what is written: `finish` brings the rows of the head that `rows` was asked for to the matrix.
class HeadOutput {
 public:
  HeadOutput(Tensor& matrix, int64_t most_rows, int64_t width) : matrix_(matrix), width_(width) {
    if (is_bfloat16(matrix)) {
      copy_ = Tensor::empty({most_rows, width});
    }
  }

  MatrixView<float> rows(int64_t first, int64_t head) {
    return copy_.defined() ? view_of<float>(copy_) : view_of<float>(matrix_).part(first, head * width_);
  }
  void finish(int64_t first, int64_t count, int64_t head) {
    if (copy_.defined()) {
      const auto to = view_of<tensor::BFloat16>(matrix_).part(first, head * width_);
      DRAGOMAN_DISPATCH(round_rows)({copy_.data<float>(), width_}, count, width_, to);
    }
  }

 private:
  Tensor& matrix_;
  int64_t width_;
  Tensor copy_;
};

// The heads of a call, one after another.
class Heads {
 public:
  Heads(const AttentionInputs& inputs, float* stats)
      : inputs_(inputs),
        query_(inputs.query, longest(inputs.bounds.query_offsets), inputs.d_head()),
        key_(inputs.key, longest(inputs.bounds.key_offsets), inputs.d_head()),
        value_(inputs.value, longest(inputs.bounds.key_offsets), inputs.d_value()),
        stats_(stats),
        dropout_(weight_dropout(inputs.options)) {}

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
      for (p.head = 0; p.head < p.n_heads; ++p.head) {
        p.query = query_.rows(p.first_query, p.n_queries, p.head);
        p.key = key_.rows(first_key, p.n_keys, p.head);
        p.value = value_.rows(first_key, p.n_keys, p.head);
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

  const AttentionInputs& inputs_;
  HeadInput query_, key_, value_;
  float* const stats_;  // [2, H, Nq]
  const bool* const key_mask_ = inputs_.bounds.key_mask.defined() ? inputs_.bounds.key_mask.data<bool>() : nullptr;
  const Dropout dropout_;
};

}  // namespace

void attention_forward(const AttentionInputs& inputs, Tensor& context, Tensor& stats) {
  const ScratchOwner scratch(inputs, false);
  HeadOutput output(context, longest(inputs.bounds.query_offsets), inputs.d_value());
  Heads(inputs, stats.data<float>()).for_each([&](const HeadProblem& p, int64_t) {
    DRAGOMAN_DISPATCH(head_forward)(p, scratch.get(), output.rows(p.first_query, p.head));
    output.finish(p.first_query, p.n_queries, p.head);
  });
}

void attention_backward(const AttentionInputs& inputs, Tensor stats, const Tensor& grad_context,
                        AttentionGradients& gradients) {
  const ScratchOwner scratch(inputs, true);
  const int64_t n_queries = longest(inputs.bounds.query_offsets), n_keys = longest(inputs.bounds.key_offsets);
  HeadInput output(grad_context, n_queries, inputs.d_value());
  HeadOutput query(gradients.query, n_queries, inputs.d_head()), key(gradients.key, n_keys, inputs.d_head());
  HeadOutput value(gradients.value, n_keys, inputs.d_value());
  Heads(inputs, stats.data<float>()).for_each([&](const HeadProblem& p, int64_t first_key) {
    const HeadGradients grads{query.rows(p.first_query, p.head), key.rows(first_key, p.head),
                              value.rows(first_key, p.head)};
    DRAGOMAN_DISPATCH(head_backward)(p, scratch.get(), output.rows(p.first_query, p.n_queries, p.head), grads);
    query.finish(p.first_query, p.n_queries, p.head);
    key.finish(first_key, p.n_keys, p.head);
    value.finish(first_key, p.n_keys, p.head);
  });
}

void attention_weights_forward(const AttentionInputs& inputs, Tensor& weights) {
  const ScratchOwner scratch(inputs, false);
  Heads(inputs, nullptr).for_each([&](const HeadProblem& p, int64_t) {
    DRAGOMAN_DISPATCH(head_weights)(p, scratch.get(), weights.data<float>() + p.head * p.n_queries * p.n_keys);
  });
}

}  // namespace dragoman::ops
#endif
