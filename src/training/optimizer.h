#pragma once

#include <span>
#include <vector>

#include "distributed/communicator.h"
#include "kernels/adam.h"
#include "nn/parameters.h"
#include "tensor/tensor.h"
#include "training/train_options.h"

namespace dragoman::training {

/// Adam over flat buffers of all parameters; the moments are state that a checkpoint keeps.
/// Kingma & Ba 2015, algorithm 1; weight decay is decoupled (Loshchilov & Hutter 2019, algorithm 2).
class Adam {
 public:
  /// @param parameters  whose flat buffers it updates
  Adam(const AdamOptions& options, const nn::ParameterSet& parameters);

  /// Returns: the scalars of one update.
  /// @param gradient_scale  multiplied into the gradients (clipping)
  /// @param step  from 1: updates applied, this one included (skipped ones do not count)
  kernels::AdamScalars scalars(double learning_rate, double gradient_scale, int64_t step) const;

  /// Updates the elements of `part` of `weights` in place; several threads may update disjoint parts.
  /// @param weights, gradients  [size] float32
  void update(const tensor::Tensor& weights, const tensor::Tensor& gradients, distributed::Part part,
              const kernels::AdamScalars& scalars);

  /// First and second moments [size] float32.
  tensor::Tensor& first_moment() { return first_moment_; }
  tensor::Tensor& second_moment() { return second_moment_; }

 private:
  void update_piece(const tensor::Tensor& weights, const tensor::Tensor& gradients, distributed::Part piece,
                    const kernels::AdamScalars& scalars);

  // A part of the flat buffers that is decayed, or one that is not.
  struct Piece {
    int64_t end;  // it begins where the piece before ends
    bool is_decayed;
  };

  AdamOptions options_;
  std::vector<Piece> pieces_;
  tensor::Tensor first_moment_;
  tensor::Tensor second_moment_;
};

}  // namespace dragoman::training
