#pragma once

#include <algorithm>
#include <cstdint>
#include <numbers>

#include "kernels/dropout.h"

namespace dragoman::kernels {

// Query rows that go through at once; a multiple of the lanes of every instruction set.
constexpr int64_t kQueryBlock = 64;
// Query rows of a block are padded to whole vectors of any instruction set.
constexpr int64_t kQueryPadding = 16;

constexpr int64_t padded_to_vectors(int64_t count) {
  return (count + kQueryPadding - 1) / kQueryPadding * kQueryPadding;
}

// A matrix with dense rows inside a larger one.
template <typename T>
struct MatrixView {
  T* data = nullptr;
  int64_t stride = 0;
  T* row(int64_t index) const { return data + index * stride; }
  MatrixView part(int64_t row, int64_t column) const { return {data + row * stride + column, stride}; }
};

// Work space of one head, one for all heads of a call. W is the padded number of queries of a block. Scores and weights
// stand transposed, one row a key: a softmax then runs over 8 or 16 queries at once, without sums across lanes.
struct HeadScratch {
  float* queries;       // [Dh, W] transposed queries
  float* grad_context;  // [Dv, W] transposed; backward only
  float* weights;       // [S, W]
  float* grad_weights;  // [S, W]; backward only
  float* factors;       // [S, W]: dropout
  float* row_factors;   // [W, S]: dropout, as it is generated
};

// One head of one sentence.
struct HeadProblem {
  int64_t n_queries = 0, n_keys = 0, d_head = 0, d_value = 0;  // T, S, Dh, Dv
  int64_t first_query = 0, first_key = 0, head = 0, n_heads = 1;
  int64_t key_head = 0, group = 1;  // the head of keys and values, and the number of heads that share it
  const bool* key_mask = nullptr;   // [S]: true = may be attended to; nullptr = all
  bool causal = false;
  int64_t window = 0;                // keys that a query sees at most, up to its own; 0 = all
  const Dropout* dropout = nullptr;  // nullptr = none
  float scale = 0;                   // of the products q . k
  const float* bias = nullptr;       // bias[t - s] is added to the scaled product of query t and key s; nullptr = none
  float* grad_bias = nullptr;        // likewise; the backward adds to it
  // Of the softmax of each query row, [T]: the largest score and 1 / (sum of the exponentials), 0 for a row with
  // nothing to attend to. Written by the forward, read by the backward.
  float* largest = nullptr;
  float* inverse_sum = nullptr;

  bool hidden(int64_t key) const { return key_mask != nullptr && !key_mask[key]; }
  // Keys that query rows below `end` can see.
  int64_t visible(int64_t end) const { return causal ? std::min(end, n_keys) : n_keys; }
  // The first key that a query can see.
  int64_t first_visible(int64_t query) const { return window > 0 ? std::max<int64_t>(query + 1 - window, 0) : 0; }
  // Heads that share keys come one after the other. The first overwrites the gradients of keys and values, the others
  // add to them.
  bool is_first_of_group() const { return head % group == 0; }
  bool is_last_of_group() const { return head % group == group - 1; }
  // Turns a product q . k into a power of two: exp(scale * q . k) = exp2(power_scale() * q . k).
  float power_scale() const { return std::numbers::log2e_v<float> * scale; }
};

// The rows of a head that are read, or with T not const those of its gradients: [T, Dh], [S, Dh], [S, Dv].
template <typename T>
struct HeadRows {
  MatrixView<T> query, key, value;
};

}  // namespace dragoman::kernels
