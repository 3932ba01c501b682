#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/attention.h"
#include "kernels/cpu/attention/attention_head.h"

namespace dragoman::kernels {

/// Returns: the number of rows of the longest sentence.
/// @param offsets  [B + 1] int32
inline int64_t longest(const Tensor& offsets) {
  int64_t length = 0;
  const auto ends = offsets.span<int32_t>();
  for (size_t index = 1; index < ends.size(); ++index) {
    length = std::max<int64_t>(length, ends[index] - ends[index - 1]);
  }
  return length;
}

/// Returns: the factor of the products q . k.
inline float score_scale(const AttentionInputs& inputs) {
  return inputs.options.scale > 0 ? inputs.options.scale : 1.0F / std::sqrt(static_cast<float>(inputs.d_head()));
}

template <typename T, typename AnyTensor>
MatrixView<T> view_of(AnyTensor& matrix) {
  return {matrix.template data<std::remove_const_t<T>>(), matrix.stride(0)};
}

/// Owns a block of memory and hands it out in parts, one after the other.
class ScratchMemory {
 public:
  explicit ScratchMemory(int64_t floats) : memory_(Tensor::empty({floats})), next_(memory_.data<float>()) {}
  float* take(int64_t floats) { return std::exchange(next_, next_ + floats); }

 private:
  Tensor memory_;
  float* next_;
};

/// Owns the memory of a HeadScratch that is large enough for every sentence of the batch. Matrices with one row for
/// each key are padded to whole tiles of rows.
class HeadScratchOwner {
 public:
  HeadScratchOwner(const AttentionInputs& inputs, bool backward)
      : n_keys_(padded_to_vectors(longest(inputs.bounds.key_offsets))),
        width_(std::min(padded_to_vectors(longest(inputs.bounds.query_offsets)), kQueryBlock)),
        drops_(inputs.options.dropout.probability > 0 ? 1 : 0),
        gradients_(backward ? 1 : 0),
        memory_((inputs.d_head() + gradients_ * inputs.d_value() + (1 + gradients_ + 2 * drops_) * n_keys_) * width_) {
    const auto take = [&](int64_t rows) { return memory_.take(rows * width_); };
    scratch_ = {take(inputs.d_head()),  take(gradients_ * inputs.d_value()),
                take(n_keys_),          take(gradients_ * n_keys_),
                take(drops_ * n_keys_), take(drops_ * n_keys_)};
  }
  const HeadScratch& get() const { return scratch_; }
  int64_t n_keys() const { return n_keys_; }
  int64_t width() const { return width_; }

 private:
  const int64_t n_keys_, width_, drops_, gradients_;
  ScratchMemory memory_;
  HeadScratch scratch_{};
};

/// Iterates over the heads of a call.
class Heads {
 public:
  /// @param stats  [2, H, Nq]; nullptr for none
  /// @param grad_bias  the gradient of the distance bias, which is zeroed here; nullptr for none
  Heads(const AttentionInputs& inputs, float* stats, Tensor* grad_bias = nullptr)
      : inputs_(inputs), stats_(stats), dropout_(weight_dropout(inputs.options)) {
    if (inputs.distance_bias.defined() && grad_bias != nullptr) {
      grad_bias->zero();
      grad_bias_ = grad_bias->data<float>();
    }
  }

  /// Calls visit(HeadProblem) for each head of each sentence, in order.
  template <typename Visit>
  void for_each(Visit visit) const {
    const auto queries = inputs_.bounds.query_offsets.span<int32_t>();
    const auto keys = inputs_.bounds.key_offsets.span<int32_t>();
    const int64_t n_rows = inputs_.query.dim(0);
    HeadProblem p = any_head();
    for (size_t sentence = 0; sentence + 1 < queries.size(); ++sentence) {
      p.first_query = queries[sentence];
      p.first_key = keys[sentence];
      p.n_queries = queries[sentence + 1] - p.first_query;
      p.n_keys = keys[sentence + 1] - p.first_key;
      p.key_mask = key_mask_ == nullptr ? nullptr : key_mask_ + p.first_key;
      for (p.head = 0; p.head < p.n_heads; ++p.head) {
        p.key_head = p.head / p.group;
        if (bias_ != nullptr) {
          const int64_t middle = (2 * p.head + 1) * inputs_.reach();
          p.bias = bias_ + middle;
          p.grad_bias = grad_bias_ == nullptr ? nullptr : grad_bias_ + middle;
        }
        if (stats_ != nullptr) {
          p.largest = stats_ + p.head * n_rows + p.first_query;
          p.inverse_sum = p.largest + p.n_heads * n_rows;
        }
        visit(std::as_const(p));
      }
    }
  }

 private:
  HeadProblem any_head() const {
    HeadProblem p;
    p.d_head = inputs_.d_head();
    p.d_value = inputs_.d_value();
    p.n_heads = inputs_.n_heads();
    p.group = inputs_.group();
    p.causal = inputs_.options.causal;
    p.window = inputs_.options.window;
    p.scale = score_scale(inputs_);
    p.dropout = dropout_.probability > 0 ? &dropout_ : nullptr;
    return p;
  }

  const AttentionInputs& inputs_;
  float* const stats_;
  float* grad_bias_ = nullptr;
  const float* const bias_ = inputs_.distance_bias.defined() ? inputs_.distance_bias.data<float>() : nullptr;
  const bool* const key_mask_ = inputs_.bounds.key_mask.defined() ? inputs_.bounds.key_mask.data<bool>() : nullptr;
  const Dropout dropout_;
};

}  // namespace dragoman::kernels
