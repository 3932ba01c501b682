#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "decoding/translator.h"
#include "evaluation/tokenizer.h"
#include "training/train_options.h"

namespace dragoman::training {

/// Which searches are tried, and what "better" means.
struct SearchTuning {
  std::vector<int> beam_sizes = {1, 2, 4, 6, 8};
  std::vector<double> alphas = {0.0, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0};  ///< exponents of the length penalty
  decoding::SearchOptions search;                                    ///< all that is not tried
  ValidationMetric metric = ValidationMetric::kBleu;                 ///< bleu or chrf
  evaluation::Tokenizer tokenize = evaluation::Tokenizer::k13a;      ///< of BLEU
  bool lowercase = false;                                            ///< for both metrics

  /// Throws Error(kUsage): nothing to try, a value that SearchOptions::check refuses, "metric is \"loss\", ...".
  void check() const;
};

/// One search and how its translations score.
struct TunedSearch {
  decoding::SearchOptions search;
  double bleu = 0.0;  ///< 0 to 100
  double chrf = 0.0;  ///< 0 to 100

  double score(ValidationMetric metric) const { return metric == ValidationMetric::kChrf ? chrf : bleu; }
};

/// Translates `sources` with every beam size and every alpha; greedy search (beam 1) once, as no alpha changes it.
/// @param done  is told each result as it comes
/// @return  all results in the order tried: by beam size, then alpha
/// Throws Error(kBadData) when sources and references differ in number: "tune: 3 source lines, 2 target lines".
std::vector<TunedSearch> try_searches(const decoding::Translator& translator, std::span<const std::string> sources,
                                      const std::vector<std::string>& references, const SearchTuning& tuning,
                                      const std::function<void(const TunedSearch&)>& done);

/// The one that scores highest; of equals the first, which is the cheapest. `results` must not be empty.
const TunedSearch& best_search(std::span<const TunedSearch> results, ValidationMetric metric);

}  // namespace dragoman::training
