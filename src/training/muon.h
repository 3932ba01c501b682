#pragma once

#include "kernels/precision.h"
#include "tensor/tensor.h"

namespace dragoman::training {

/// Returns: a matrix near U V^T, where U S V^T is the singular value decomposition of `matrix`. Its singular values are
/// between 0.6 and 1.3 if those of the matrix do not differ by more than about a factor of 1000; smaller ones stay
/// small. A matrix of zeros gives zeros.
///   X = M / |M|;  five times  X = (a I + b X X^T + c (X X^T)^2) X,  a = 3.4445, b = -4.7750, c = 2.0315
/// @param matrix  [R, C] float32
/// @param precision  of the products; the authors take bfloat16
/// Source: Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks".
/// Complexity: 5 * (4 R C n + 2 n^3) operations, n = min(R, C), of which the host leaves out 3/8 of the symmetric
/// products where n is large; two copies of the matrix and two matrices [n, n].
tensor::Tensor orthogonalised(const tensor::Tensor& matrix,
                              kernels::Precision precision = kernels::Precision::kFloat32);

/// Returns: what an orthogonalised update of a matrix [R, C] is multiplied with: 0.2 sqrt(max(R, C)). Its elements have
/// then the root mean square that those of Adam have, so that one learning rate suits both.
/// Source: Liu et al. 2025, "Muon is scalable for LLM training", equation 4.
double muon_scale(int64_t rows, int64_t columns);

/// The scalars of one update.
struct MuonScalars {
  double momentum = 0.95;
  double gradient_scale = 1;  ///< multiplied into the gradients first (clipping)
};

/// Computes the Nesterov direction of some elements, with g = scale * gradient:
///   m = momentum m + (1 - momentum) g;  direction = momentum m + (1 - momentum) g
/// @param gradients, momentum, direction  [n] float32
void muon_direction(const tensor::Tensor& gradients, tensor::Tensor& momentum, tensor::Tensor& direction,
                    const MuonScalars& scalars);

/// Computes weight = (1 - rate * weight_decay) weight - rate * muon_scale * orthogonalised(direction).
/// @param weight, direction  [R, C] float32
void muon_step(tensor::Tensor& weight, const tensor::Tensor& direction, double learning_rate, double weight_decay,
               kernels::Precision precision = kernels::Precision::kFloat32);

}  // namespace dragoman::training
