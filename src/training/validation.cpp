#include "training/validation.h"

#include <fmt/format.h>

#include <cmath>

namespace dragoman::training {

double ValidationResult::score(ValidationMetric metric) const {
  switch (metric) {
    case ValidationMetric::kBleu:
      return bleu;
    case ValidationMetric::kChrf:
      return chrf;
    case ValidationMetric::kLoss:
      return -sums.nll_per_token();
  }
  return 0.0;
}

std::string ValidationResult::scores_text() const {
  const std::string bleu_text = std::isfinite(bleu) ? fmt::format("BLEU {:.2f}  ", bleu) : "";
  return bleu_text + (std::isfinite(chrf) ? fmt::format("chrF {:.2f}  ", chrf) : "");
}

}  // namespace dragoman::training
