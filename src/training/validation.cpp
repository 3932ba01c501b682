#include "training/validation.h"

#include <fmt/format.h>

#include <cmath>

namespace dragoman::training {

double ValidationResult::score(ValidationMetric metric) const {
  constexpr double kLeastBleu = 1.0;
  switch (metric) {
    case ValidationMetric::kBleu:
      return bleu < kLeastBleu ? -sums.nll_per_token() : bleu;
    case ValidationMetric::kChrf:
      return chrf;
    case ValidationMetric::kAccuracy:
      return accuracy;
    case ValidationMetric::kMrr:
      return mrr;
    case ValidationMetric::kLoss:
      return -sums.nll_per_token();
  }
  return 0.0;
}

std::vector<std::string> ValidationResult::scores_text() const {
  std::vector<std::string> texts;
  if (std::isfinite(bleu)) {
    texts.push_back(fmt::format("BLEU {:.2f}", bleu));
  }
  if (std::isfinite(chrf)) {
    texts.push_back(fmt::format("chrF {:.2f}", chrf));
  }
  if (std::isfinite(accuracy)) {
    texts.push_back(fmt::format("accuracy {:.2f}", accuracy));
  }
  if (std::isfinite(mrr)) {
    texts.push_back(fmt::format("MRR {:.2f}", mrr));
  }
  if (std::isfinite(bits_per_byte)) {
    texts.push_back(fmt::format("bits per byte {:.4f}", bits_per_byte));
  }
  return texts;
}

}  // namespace dragoman::training
