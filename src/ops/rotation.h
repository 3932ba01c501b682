#pragma once

#include "kernels/rotation.h"
#include "ops/types.h"

namespace dragoman::ops {

using kernels::RotationScaling;

/// How the frequencies of a rotation are changed. The numbers after `factor` count for RotationScaling::kLlama3 alone.
struct FrequencyScaling {
  RotationScaling kind = RotationScaling::kNone;
  double factor = 1;                ///< the sentences that the model shall take are so many times longer
  double low_frequency_factor = 1;  ///< waves longer than original_positions / this: the frequency is divided by factor
  double high_frequency_factor = 4;   ///< waves shorter than original_positions / this: unchanged
  int64_t original_positions = 8192;  ///< positions of the training before
};

/// Computes the angles of `rotate`. Pair i of position p has the angle p * f[i] with f[i] = theta^(-2i / Dh), changed
/// by `scaling`. Frequency and angle are rounded to float32, as in the programs that trained published models.
/// @return [n_positions, d_head] float32: the cosines of the Dh/2 angles of a position, then their sines
/// Throws: Error, "rotation_table: d_head is 5, must be even and positive", and for a theta or factors that are not
/// positive.
/// Source: Su et al. 2021, "RoFormer", eq. (15); the scaling kLlama3 is that of the models Llama 3.1.
[[nodiscard]] Tensor rotation_table(int64_t n_positions, int64_t d_head, double theta,
                                    const FrequencyScaling& scaling = {});

/// Rotates the queries or keys of each token by its position, so that the product of a query and a key depends on the
/// distance of their positions alone. In each head the columns i and i + Dh/2 are a pair (a, b), which becomes
///   (a cos - b sin, b cos + a sin)
/// @param x  [N, H*Dh] float32, float64 or bfloat16, for any H; rows may be strided; bfloat16 is computed in float32
/// @param positions  [N] int32, each in [0, P)
/// @param table  [P, Dh] of rotation_table, of the type of x; float32 for bfloat16
/// @return [N, H*Dh] of the type of x.   Saves for backward: positions and table (shared).   Gradient: x.
/// Throws: Error, "rotate: x has width 10, must be a multiple of the width of table, 4", and for a position outside the
/// table: "rotate: positions[0] is 512, must be in [0, 512)".
/// Source: Su et al. 2021, "RoFormer", eq. (34), with pairs of columns that lie Dh/2 apart.
Variable rotate(const Variable& x, const Tensor& positions, const Tensor& table);

}  // namespace dragoman::ops
