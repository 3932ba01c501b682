#pragma once

#include <span>

#include "distributed/communicator.h"
#include "tensor/tensor.h"
#include "training/train_options.h"

namespace dragoman::training {

/// What changes from update to update.
struct AdamStep {
  double learning_rate = 0.0;
  double gradient_scale = 1.0;  ///< multiplied into the gradients (clipping)
  int64_t number = 1;           ///< from 1: updates applied, this one included (skipped ones do not count)
};

/// Adam over flat buffers of all parameters; the moments are state that a checkpoint keeps.
/// Kingma & Ba 2015, algorithm 1; weight decay is decoupled (Loshchilov & Hutter 2019, algorithm 2).
class Adam {
 public:
  /// @param size  elements of the flat buffers
  Adam(const AdamOptions& options, int64_t size);

  /// Updates the elements of `part` of `weights` in place; several threads may update disjoint parts.
  /// @param weights, gradients  [size] float32
  void update(const tensor::Tensor& weights, const tensor::Tensor& gradients, distributed::Part part,
              const AdamStep& step);

  /// First and second moments [size] float32.
  tensor::Tensor& first_moment() { return first_moment_; }
  tensor::Tensor& second_moment() { return second_moment_; }

 private:
  AdamOptions options_;
  tensor::Tensor first_moment_;
  tensor::Tensor second_moment_;
};

}  // namespace dragoman::training
