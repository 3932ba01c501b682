#pragma once

#include <span>

#include "tensor/tensor.h"
#include "training/train_options.h"

namespace dragoman::training {

/// Adam over flat buffers of all parameters; the moments are state that a checkpoint keeps.
/// Departs from nothing: bias-corrected as in the paper's algorithm 1; weight decay is decoupled (AdamW).
class Adam {
 public:
  /// @param size  elements of the flat buffers
  Adam(const AdamOptions& options, int64_t size);

  /// Updates elements [begin, end) of `weights` in place; several threads may update disjoint ranges.
  /// @param step  from 1: number of updates done, this one included (skipped ones do not count)
  /// @param gradient_scale  multiplied into the gradients (clipping)
  void update(std::span<float> weights, std::span<const float> gradients, int64_t begin, int64_t end,
              double learning_rate, int64_t step, double gradient_scale);

  /// First and second moments [size] float32.
  tensor::Tensor& first_moment() { return first_moment_; }
  tensor::Tensor& second_moment() { return second_moment_; }

 private:
  AdamOptions options_;
  tensor::Tensor first_moment_;
  tensor::Tensor second_moment_;
};

}  // namespace dragoman::training
