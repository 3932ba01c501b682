#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ops/dropout.h"

namespace dragoman::ops {

// Query rows that go through at once; a multiple of the six rows of a tile of small_gemm.
constexpr int64_t kQueryBlock = 48;
// Rows of scores are padded to whole vectors of any instruction set.
constexpr int64_t kKeyPadding = 16;

constexpr int64_t padded_keys(int64_t n_keys) {
  return (n_keys + kKeyPadding - 1) / kKeyPadding * kKeyPadding;
}

// A matrix with dense rows inside a larger one.
template <typename T>
struct MatrixView {
  T* data = nullptr;
  int64_t stride = 0;
  T* row(int64_t index) const { return data + index * stride; }
};

// Work space of one head, one for all heads of a call.
struct HeadScratch {
  float* transposed_key;    // [Dh, padded]
  float* transposed_value;  // [Dv, padded]; backward only
  float* weights;           // [kQueryBlock, padded]
  float* grad_weights;      // [kQueryBlock, padded]; backward only
  float* mask_bias;         // [padded]: 0 where a key may be attended to, else -infinity
  float* row_scales;        // [padded]: dropout
};

// One head of one sentence.
struct HeadProblem {
  MatrixView<const float> query, key, value;  // [T, Dh], [S, Dh], [S, Dv]
  int64_t n_queries = 0, n_keys = 0, d_head = 0, d_value = 0;
  int64_t first_query = 0, head = 0, n_heads = 1;
  int64_t first_allowed = 0;  // lowest key that the mask lets through; n_keys if there is none
  bool masked = false;        // scratch.mask_bias is to be added
  bool causal = false;
  const Dropout* dropout = nullptr;  // nullptr = none

  int64_t padded() const { return padded_keys(n_keys); }
  // Keys that rows below `end` can see.
  int64_t visible(int64_t end) const { return causal ? std::min(end, n_keys) : n_keys; }
  float score_scale() const { return 1.0F / std::sqrt(static_cast<float>(d_head)); }
  // Dropout factors of query row t for keys [0, visible).
  void fill_row_scales(int64_t t, int64_t visible, float* scales) const {
    dropout_row_scales(*dropout, (first_query + t) * n_heads + head, visible, scales);
  }
};

struct HeadGradients {
  MatrixView<float> query, key, value;
};

}  // namespace dragoman::ops
