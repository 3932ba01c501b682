#pragma once

#include <cstdint>
#include <span>

#include "kernels/adam.h"
#include "tensor/dtype.h"

namespace dragoman::kernels {

/// Returns: the sum of x^2 in float64, added in a fixed order.
double sum_of_squares(std::span<const float> x);

/// Returns: true if no element is NaN or infinite.
bool all_finite(std::span<const float> x);

// The functions below change `to` element by element, so that separate calls on parts give the same result.
// They throw Error if lengths differ: "axpy: 3 and 4 elements".

/// Computes to += from.
void add_in_place(std::span<float> to, std::span<const float> from);
void add_in_place(std::span<float> to, std::span<const tensor::BFloat16> from);

/// Computes to *= factor.
void scale_in_place(std::span<float> to, float factor);

/// Computes to += factor * x.
void axpy(float factor, std::span<const float> x, std::span<float> to);

/// Updates an exponential moving average: average += (1 - decay) * (weights - average), decay in [0, 1).
void ema_update(std::span<float> average, std::span<const float> weights, double decay);

/// Computes to[i] = exp((x[i] - shift) * factor), which softmax(factor * x) is proportional to. It is at most 1 if
/// shift is the largest of x, and 0 for minus infinity. The relative error is about 2e-7, plus the effect of rounding
/// (x - shift) * factor. `to` may be x.
/// Requires: factor > 0, and no NaN.
/// Throws: Error, "exp_weights: 3 and 4 elements".
void exp_weights(std::span<const float> x, float shift, float factor, std::span<float> to);

/// Computes the log-probabilities of the mean of the distributions of several rows of logits:
///   to[v] = log((1 / M) sum_m exp(logits[m][v] - normalisers[m])),  normalisers[m] = log sum_v exp(logits[m][v])
/// The terms are added in the order of the rows. The result is -infinity if every row has -infinity. The largest term
/// of a sum is factored out, so that small probabilities do not underflow. `to` may be one of the rows. Requires: at
/// least one row, rows of equal length, and no NaN. Throws: Error, "log_mean_exp: 3 and 4 elements".
void log_mean_exp(std::span<const std::span<const float>> logits, std::span<const double> normalisers,
                  std::span<float> to);

/// Computes one update of Adam, or of AdamW if there is weight decay, in one pass over memory:
///   g = scale * grad;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
///   w -= learning_rate * (m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) + weight_decay * w)
/// Unlike in the papers, moments below the smallest normal float become 0, because arithmetic on denormals is slow.
/// Requires: four spans of equal length.
/// Throws: Error, "adam_update: step is 0, must be >= 1".
/// Source: Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019, algorithm 2.
void adam_update(std::span<float> weights, std::span<const float> grads, std::span<float> moment1,
                 std::span<float> moment2, const AdamScalars& scalars);

}  // namespace dragoman::kernels
