#pragma once

#include "evaluation/metric.h"

namespace dragoman::evaluation {

struct TerOptions {
  bool case_sensitive = false;
  bool normalized = false;      ///< punctuation becomes words, the XML entities of " & < > are decoded
  bool no_punctuation = false;  ///< . , ? : ; ! " ( ) are removed
  bool asian_support =
      false;  ///< `normalized` and `no_punctuation` also treat Chinese and Japanese characters and marks
};

/// Corpus TER, the translation edit rate: the smallest number of edits for each sentence over its references
/// (translation_edits), divided by the mean length of the references.
///   TER = 100 sum_i min_r edits(hypothesis_i, reference_ir) / sum_i mean_r length(reference_ir)
/// Lower is better, and a value above 100 is possible. The columns of a sentence are the edits and the mean length.
/// Against empty references TER is 100 for any edits, otherwise 0. Source: Snover et al. 2006, section 3; words as in
/// Tercom; details as in sacreBLEU 2.6.
class Ter final : public Metric {
 public:
  explicit Ter(const TerOptions& options) : options_(options) {}

  std::string name() const override { return "TER"; }
  CountTable count(Lines hypothesis, std::span<const Lines> references) const override;
  double score(std::span<const double> sums) const override;
  double resampled_score(std::span<const float> sums) const override;
  bool resamples_in_float32() const override { return true; }
  std::string details(std::span<const double>) const override { return {}; }
  Signature signature(size_t n_references, const Resampling& resampling) const override;

 private:
  TerOptions options_;
};

/// Returns the words of a line by the rules of Tercom, with any amount of white space between them. `split_words` gives
/// their list. Requires: `line` is well-formed UTF-8 without LF.
std::string tokenize_for_ter(const TerOptions& options, std::string_view line);

}  // namespace dragoman::evaluation
