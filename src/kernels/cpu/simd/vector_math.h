#pragma once

#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace dragoman::kernels {

/// Sum of x^2 in float64, in a fixed order.
double sum_of_squares(std::span<const float> x);

/// True if no element is NaN or infinite.
bool all_finite(std::span<const float> x);

/// The functions below change `to` element by element, so that parts may be done apart with the same result.
/// Throw Error when lengths differ: "axpy: 3 and 4 elements".

/// to += from.
void add_in_place(std::span<float> to, std::span<const float> from);
void add_in_place(std::span<float> to, std::span<const tensor::BFloat16> from);

/// to *= factor.
void scale_in_place(std::span<float> to, float factor);

/// to += factor * x.
void axpy(float factor, std::span<const float> x, std::span<float> to);

/// average += (1 - decay) * (weights - average): exponential moving average; decay in [0, 1).
void ema_update(std::span<float> average, std::span<const float> weights, double decay);

/// to[i] = exp((x[i] - shift) * factor): what softmax(factor * x) is proportional to, at most 1 where shift is the
/// largest of x. 0 for minus infinity; relative error about 2e-7 and what rounding (x - shift) * factor makes of it.
/// `to` may be x.
/// @param factor  positive;  no NaN. Throws Error: "exp_weights: 3 and 4 elements".
void exp_weights(std::span<const float> x, float shift, float factor, std::span<float> to);

/// The mean of the distributions that rows of logits stand for, as one of log-probabilities:
///   to[v] = log((1 / M) sum_m exp(logits[m][v] - normalisers[m])),  normalisers[m] = log sum_v exp(logits[m][v])
/// added in the order of the rows; -infinity where every row has it. `to` may be one of the rows. All rows of one
/// length, at least one of them, without NaN. Throws Error: "log_mean_exp: 3 and 4 elements".
/// The largest term of a sum is taken out of it, so that no probability is too small to be told.
void log_mean_exp(std::span<const std::span<const float>> logits, std::span<const double> normalisers,
                  std::span<float> to);

/// The scalars of one Adam update.
struct AdamScalars {
  double learning_rate = 0;   ///< alpha
  double beta1 = 0.9;         ///< decay of the first moment, [0, 1)
  double beta2 = 0.98;        ///< decay of the second moment, [0, 1)
  double epsilon = 1e-9;      ///< added to the root of the second moment
  double weight_decay = 0;    ///< decoupled, times the learning rate; 0 = plain Adam
  double gradient_scale = 1;  ///< multiplied into the gradients first (clipping)
  int64_t step = 1;           ///< t, number of this update, from 1
};

/// One update of Adam or, with weight decay, AdamW in one pass over memory:
///   g = scale * grad;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
///   w -= learning_rate * (m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) + weight_decay * w)
/// All four of one length. Throws Error: "adam_update: step is 0, must be >= 1".
/// Departs: moments smaller than the smallest normal float become 0, as arithmetic on denormals is slow.
/// Source: Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019, algorithm 2.
void adam_update(std::span<float> weights, std::span<const float> grads, std::span<float> moment1,
                 std::span<float> moment2, const AdamScalars& scalars);

}  // namespace dragoman::kernels
