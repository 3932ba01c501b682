#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/attention/attention_heads.h"

namespace dragoman::kernels {

// Numbers of bfloat16 in a row of a tile, which is how deep it multiplies.
constexpr int64_t kDepthOfTile = 32;

constexpr int64_t padded_to_depth(int64_t count) {
  return (count + kDepthOfTile - 1) / kDepthOfTile * kDepthOfTile;
}

// Work space of one head in tiles, one for all heads of a call. Operands are cells of two bfloat16, as in
// attention_tiles-inl.h. S and the padded number of queries W are whole tiles; S/2 and W/2 are so after padding to
// their depth.
struct TileScratch {
  HeadScratch head;      // transposed queries and gradients of context are cells, [Dh/2, W] and [Dv/2, W]
  float* keys;           // [S, Dh/2]
  float* values;         // [S, Dv/2]; backward only
  float* joined_keys;    // [S/2, Dh]; backward only
  float* joined_values;  // [S/2, Dv]; forward only
  float* joined;         // [S/2, W], or backward [W/2, Dh or Dv]
  float* left;           // [W, S/2], or backward [S, W/2]: weights or dScores
  float* result;         // [W, Dh or Dv] float32
  float* grad_key;       // [S, Dh] float32; backward only
  float* grad_value;     // [S, Dv] float32; backward only
};

// Owns the memory behind a TileScratch large enough for every sentence of the batch.
class TileScratchOwner {
 public:
  TileScratchOwner(const AttentionInputs& inputs, bool backward)
      : head_(inputs, backward), memory_(lay_out(inputs, backward, nullptr)) {
    lay_out(inputs, backward, &memory_);
  }
  const TileScratch& get() const { return scratch_; }

 private:
  // Fills scratch_ with parts of `memory`, if there is any. Returns how many floats that takes.
  int64_t lay_out(const AttentionInputs& inputs, bool backward, ScratchMemory* memory) {
    const int64_t keys = head_.n_keys(), width = head_.width();
    const int64_t depth_of_keys = padded_to_depth(keys) / 2, depth_of_queries = padded_to_depth(width) / 2;
    const int64_t d_head = inputs.d_head(), d_value = inputs.d_value(), widest = std::max(d_head, d_value);
    int64_t floats = 0;
    const auto take = [&](bool wanted, int64_t count) -> float* {
      floats += wanted ? count : 0;
      return wanted && memory != nullptr ? memory->take(count) : nullptr;
    };
    scratch_ = {
        .head = head_.get(),
        .keys = take(true, keys * d_head / 2),
        .values = take(backward, keys * d_value / 2),
        .joined_keys = take(backward, depth_of_keys * d_head),
        .joined_values = take(!backward, depth_of_keys * d_value),
        .joined = take(true, std::max(depth_of_keys * width, backward ? depth_of_queries * widest : 0)),
        .left = take(true, std::max(depth_of_keys * width, backward ? depth_of_queries * keys : 0)),
        .result = take(true, width * widest),
        .grad_key = take(backward, keys * d_head),
        .grad_value = take(backward, keys * d_value),
    };
    return floats;
  }

  HeadScratchOwner head_;
  TileScratch scratch_{};
  ScratchMemory memory_;
};

}  // namespace dragoman::kernels
