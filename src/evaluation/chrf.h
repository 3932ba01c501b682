#pragma once

#include "evaluation/metric.h"

namespace dragoman::evaluation {

struct ChrfOptions {
  int char_order = 6;  ///< longest character n-gram, at least 1
  int word_order = 0;  ///< longest word n-gram; 0 = chrF, 2 = chrF++
  int beta = 2;        ///< recall weighs beta times as much as precision; at least 1
  bool lowercase = false;
};

/// Corpus chrF: F-score of character n-grams (and word n-grams) with precision and recall averaged over the orders.
///   chrF = 100 (1 + beta^2) P R / (beta^2 P + R)
/// White space is left out of character n-grams; for word n-grams one ASCII punctuation mark is cut off each word,
/// the last one or else the first. Orders that hypothesis or reference lacks do not enter the averages. With several
/// references, each sentence takes the one of best F-score.
/// Counts of a sentence: for each order, characters first: n-grams of hypothesis, of reference, matched.
/// Source: Popovic 2015 (chrF), Popovic 2017 (chrF++); details as in sacreBLEU 2.6.
class Chrf final : public Metric {
 public:
  explicit Chrf(const ChrfOptions& options);

  std::string name() const override;
  CountTable count(Lines hypothesis, std::span<const Lines> references) const override;
  double score(std::span<const int64_t> sums) const override;
  double resampled_score(std::span<const float> sums) const override;
  bool resamples_in_float32() const override { return true; }
  std::string details(std::span<const int64_t>) const override { return {}; }
  Signature signature(size_t n_references, const Resampling& resampling) const override;

 private:
  size_t orders() const { return static_cast<size_t>(options_.char_order + options_.word_order); }
  ChrfOptions options_;
};

}  // namespace dragoman::evaluation
