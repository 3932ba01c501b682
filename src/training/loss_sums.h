#pragma once

#include <cmath>
#include <cstdint>

namespace dragoman::training {

/// Sums over the target tokens of one or more batches. Means over no token at all are NaN.
struct LossSums {
  double loss = 0.0;    ///< label-smoothed cross-entropy, nats
  double nll = 0.0;     ///< -log p(reference), nats, unsmoothed
  int64_t tokens = 0;   ///< target tokens, sentence ends included; R-Drop counts each once
  int64_t correct = 0;  ///< argmax = reference
  double kl = 0.0;      ///< R-Drop: symmetric divergence of the two passes, nats, without its weight; 0 when off

  LossSums& operator+=(const LossSums& other) {
    loss += other.loss;
    nll += other.nll;
    tokens += other.tokens;
    correct += other.correct;
    kl += other.kl;
    return *this;
  }
  double loss_per_token() const { return loss / static_cast<double>(tokens); }
  double kl_per_token() const { return kl / static_cast<double>(tokens); }
  double nll_per_token() const { return nll / static_cast<double>(tokens); }
  double perplexity() const { return std::exp(nll_per_token()); }
};

}  // namespace dragoman::training
