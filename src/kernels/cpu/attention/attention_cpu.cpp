#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention/attention_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The two above must come first.
#include "kernels/cpu/attention/attention_kernel-inl.h"
#include "kernels/cpu/attention/attention_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {

void widen_rows(MatrixView<const BFloat16> from, int64_t rows, int64_t columns, MatrixView<float> to) {
  ask_for_next(from, rows, columns);
  for (int64_t row = 0; row < rows; ++row) {
    map_row(from.row(row), columns, to.row(row), [](RowVector v) HWY_ATTR { return v; });
  }
}

void round_output(MatrixView<const float> from, int64_t rows, int64_t columns, MatrixView<BFloat16> to) {
  round_rows(from, rows, columns, to);
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/cpu/attention/attention_cpu.h"
#include "kernels/cpu/attention/attention_heads.h"
#include "kernels/cpu/attention/attention_tiles.h"
#include "kernels/cpu/simd/simd.h"

namespace dragoman::kernels {
namespace {

HWY_EXPORT(head_forward);
HWY_EXPORT(head_backward);
HWY_EXPORT(head_weights);
HWY_EXPORT(widen_rows);
HWY_EXPORT(round_output);

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

// The same for results: `finish` copies the rows of the head of the last call of `rows` to the matrix.
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
      DRAGOMAN_DISPATCH(round_output)({copy_.data<float>(), width_}, count, width_, to);
    }
  }

 private:
  Tensor& matrix_;
  int64_t width_;
  Tensor copy_;
};

// The rows of a head of all three inputs.
class HeadInputs {
 public:
  explicit HeadInputs(const AttentionInputs& inputs)
      : query_(inputs.query, longest(inputs.bounds.query_offsets), inputs.d_head()),
        key_(inputs.key, longest(inputs.bounds.key_offsets), inputs.d_head()),
        value_(inputs.value, longest(inputs.bounds.key_offsets), inputs.d_value()) {}

  HeadRows<const float> rows(const HeadProblem& p) {
    return {query_.rows(p.first_query, p.n_queries, p.head), key_.rows(p.first_key, p.n_keys, p.key_head),
            value_.rows(p.first_key, p.n_keys, p.key_head)};
  }

 private:
  HeadInput query_, key_, value_;
};

}  // namespace

void attention_forward(const AttentionInputs& inputs, Tensor& context, Tensor& stats) {
  if (attends_in_tiles(inputs)) {
    return attention_forward_in_tiles(product_kernel(Precision::kBFloat16), inputs, context, stats);
  }
  const HeadScratchOwner scratch(inputs, false);
  HeadInputs in(inputs);
  HeadOutput output(context, longest(inputs.bounds.query_offsets), inputs.d_value());
  Heads(inputs, stats.data<float>()).for_each([&](const HeadProblem& p) {
    DRAGOMAN_DISPATCH(head_forward)(p, in.rows(p), scratch.get(), output.rows(p.first_query, p.head));
    output.finish(p.first_query, p.n_queries, p.head);
  });
}

void attention_backward(const AttentionInputs& inputs, Tensor stats, const Tensor& grad_context,
                        AttentionGradients& gradients) {
  if (attends_in_tiles(inputs)) {
    return attention_backward_in_tiles(product_kernel(Precision::kBFloat16), inputs, stats, grad_context, gradients);
  }
  const HeadScratchOwner scratch(inputs, true);
  const int64_t n_queries = longest(inputs.bounds.query_offsets), n_keys = longest(inputs.bounds.key_offsets);
  HeadInputs in(inputs);
  HeadInput output(grad_context, n_queries, inputs.d_value());
  HeadOutput query(gradients.query, n_queries, inputs.d_head()), key(gradients.key, n_keys, inputs.d_head());
  HeadOutput value(gradients.value, n_keys, inputs.d_value());
  Heads(inputs, stats.data<float>(), &gradients.distance_bias).for_each([&](const HeadProblem& p) {
    const HeadRows<float> grads{query.rows(p.first_query, p.head), key.rows(p.first_key, p.key_head),
                                value.rows(p.first_key, p.key_head)};
    DRAGOMAN_DISPATCH(head_backward)
    (p, in.rows(p), scratch.get(), output.rows(p.first_query, p.n_queries, p.head), grads);
    query.finish(p.first_query, p.n_queries, p.head);
    if (p.is_last_of_group()) {
      key.finish(p.first_key, p.n_keys, p.key_head);
      value.finish(p.first_key, p.n_keys, p.key_head);
    }
  });
}

void attention_weights_forward(const AttentionInputs& inputs, Tensor& weights) {
  const HeadScratchOwner scratch(inputs, false);
  HeadInputs in(inputs);
  Heads(inputs, nullptr).for_each([&](const HeadProblem& p) {
    DRAGOMAN_DISPATCH(head_weights)
    (p, in.rows(p), scratch.get(), weights.data<float>() + p.head * p.n_queries * p.n_keys);
  });
}

}  // namespace dragoman::kernels
#endif
