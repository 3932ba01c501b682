#pragma once

#include <cstdint>
#include <limits>

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

  void add(const RowLoss& loss) {
    smoothed += loss.smoothed;
    nll += loss.nll;
    correct += loss.correct ? 1 : 0;
  }
};

/// The sums of a row of logits over the parts seen so far. Parts arrive in the order of their columns.
struct RowSums {
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;        ///< of exp(logit - largest)
  double total = 0;      ///< of the logits
  double wanted = 0;     ///< the logit of the target
  bool correct = false;  ///< so far the target is the lowest id of the largest logits
};

}  // namespace dragoman::kernels
