#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "kernels/types.h"

namespace dragoman::kernels {

/// The options of a cross-entropy loss.
struct LossOptions {
  float label_smoothing = 0;  ///< epsilon in [0, 1): share of the target spread over all classes; 0 = none
  double gradient_scale = 1;  ///< factor on the loss and its gradients, e.g. 1 / number of target tokens of the update
};

/// Throws: Error naming `op` unless label_smoothing is in [0, 1): "cross_entropy: label_smoothing is 1.5, must be ...".
void check_loss_options(const LossOptions& options, const char* op);

/// The loss of one token.
struct RowLoss {
  double smoothed = 0;     ///< (1 - epsilon) * nll + epsilon * mean over all classes of -log p, in nats
  double nll = 0;          ///< -log p(target), in nats
  double log_sum_exp = 0;  ///< of the logits
  bool correct = false;    ///< the target is the lowest id of the largest logits
};

/// The sums of the losses of several tokens, added in the order of the tokens.
struct TokenLosses {
  double smoothed = 0;
  double nll = 0;
  int64_t correct = 0;
  /// [3] float64 in the memory of a device that has not been waited for: further parts of the three sums, to be added
  /// (`settle`). Undefined if there are none, as on the host.
  Tensor pending;

  void add(const RowLoss& loss) {
    smoothed += loss.smoothed;
    nll += loss.nll;
    correct += loss.correct ? 1 : 0;
  }
  /// Adds what was pending.  @param numbers  the elements of `pending`
  void take(std::span<const double> numbers) {
    smoothed += numbers[0];
    nll += numbers[1];
    correct += static_cast<int64_t>(numbers[2]);
    pending = {};
  }
};

/// Waits for what is pending, if anything is.  @param losses  TokenLosses or TwoPassLosses
template <typename Losses>
void settle(Losses& losses) {
  if (losses.pending.defined()) {
    losses.take(losses.pending.template to_vector<double>());
  }
}

/// The sums of a row of logits over the parts seen so far. Parts arrive in the order of their columns.
struct RowSums {
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;        ///< of exp(logit - largest)
  double total = 0;      ///< of the logits
  double wanted = 0;     ///< the logit of the target
  bool correct = false;  ///< so far the target is the lowest id of the largest logits
};

}  // namespace dragoman::kernels
