#pragma once

#include <memory>
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
/// With OptimizerKind::kMuon the matrices of layers are updated by Muon instead (muon.h). Of their elements the first
/// moment is Muon's momentum, and the second moment the direction of the last update.
class Optimizer {
 public:
  /// @param parameters  whose flat buffers it updates
  /// @param workers  threads that share the matrices of Muon
  /// @param owned  the parts of the flat buffers that this optimizer will update, in order; empty: all. Moments exist
  ///   for these only.
  /// Requires: with Muon `owned` is empty.
  Optimizer(const AdamOptions& options, const nn::ParameterSet& parameters, int workers = 1,
            std::vector<distributed::Part> owned = {});

  /// Returns: the scalars of one update.
  /// @param gradient_scale  multiplied into the gradients (clipping)
  /// @param step  from 1: updates applied, this one included (skipped ones do not count)
  kernels::AdamScalars scalars(double learning_rate, double gradient_scale, int64_t step) const;

  /// Updates the elements of `part` of `weights` in place, those of Muon's matrices excepted; several threads may
  /// update disjoint parts.
  /// @param weights, gradients  [size] float32
  void update(const tensor::Tensor& weights, const tensor::Tensor& gradients, distributed::Part part,
              const kernels::AdamScalars& scalars);

  /// Whether an update ends with update_matrices.
  bool has_matrices() const { return !matrices_.empty(); }
  /// Updates Muon's matrices, in as many calls as there are workers; the result does not depend on their number.
  /// Requires: `update` has seen all elements.
  /// @param precision  of the products
  void update_matrices(const tensor::Tensor& weights, int worker, const kernels::AdamScalars& scalars,
                       kernels::Precision precision);
  /// Returns: the elements that a worker needs for a matrix beside the buffers, at most.
  static int64_t scratch_elements(const AdamOptions& options, const nn::ParameterSet& parameters);

  /// First and second moments [size] float32; if this optimizer owns parts only, those, one after another.
  tensor::Tensor& first_moment() { return first_moment_; }
  tensor::Tensor& second_moment() { return second_moment_; }

 private:
  // A part of the flat buffers whose parameters are updated in one way.
  struct Piece {
    int64_t end;  // it begins where the piece before ends
    bool is_decayed;
    bool is_matrix;  // of Muon
  };
  struct Matrix {
    int64_t offset;
    int64_t rows, columns;
    int worker;
  };

  void add_matrices(const nn::ParameterSet& parameters, int workers);
  int64_t moment_offset(distributed::Part part) const;
  void update_piece(const tensor::Tensor& weights, const tensor::Tensor& gradients, distributed::Part piece,
                    const kernels::AdamScalars& scalars);

  AdamOptions options_;
  std::vector<distributed::Part> owned_;
  std::vector<Piece> pieces_;
  std::vector<Matrix> matrices_;
  tensor::Tensor first_moment_;
  tensor::Tensor second_moment_;
};

}  // namespace dragoman::training
