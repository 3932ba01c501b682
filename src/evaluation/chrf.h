#pragma once

#include "evaluation/metric.h"

namespace dragoman::evaluation {

struct ChrfOptions {
  int char_order = 6;  ///< longest character n-gram, 1 to 16
  int word_order = 0;  ///< longest word n-gram, 0 to 16; 0 = chrF, 2 = chrF++
  int beta = 2;        ///< weight of recall relative to precision, 1 to 100
  bool lowercase = false;
};

/// Corpus chrF: the F-score of character and word n-grams, with precision and recall averaged over the orders.
///   chrF = 100 (1 + beta^2) P R / (beta^2 P + R)
/// Character n-grams contain no white space. For word n-grams one ASCII punctuation mark at the end of a word, or
/// otherwise at its start, becomes a separate word. The averages leave out the orders that hypothesis or reference does
/// not have. With several references each sentence uses the reference with the best F-score. The columns of a sentence
/// are, for each order and characters first: n-grams of the hypothesis, n-grams of the reference, matches. Source:
/// Popovic 2015 (chrF), Popovic 2017 (chrF++); details as in sacreBLEU 2.6.
class Chrf final : public Metric {
 public:
  explicit Chrf(const ChrfOptions& options);

  std::string name() const override;
  CountTable count(Lines hypothesis, std::span<const Lines> references) const override;
  double score(std::span<const double> sums) const override;
  double resampled_score(std::span<const float> sums) const override;
  bool resamples_in_float32() const override { return true; }
  std::string details(std::span<const double>) const override { return {}; }
  Signature signature(size_t n_references, const Resampling& resampling) const override;

 private:
  size_t orders() const { return static_cast<size_t>(options_.char_order + options_.word_order); }
  ChrfOptions options_;
};

}  // namespace dragoman::evaluation
