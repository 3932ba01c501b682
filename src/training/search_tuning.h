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
  decoding::SearchOptions search;                                    ///< all that is not tried; itself the usual search
  ValidationMetric metric = ValidationMetric::kBleu;                 ///< bleu or chrf
  evaluation::Tokenizer tokenize = evaluation::Tokenizer::k13a;      ///< of BLEU
  bool lowercase = false;                                            ///< for both metrics
  decoding::LanguageTokens languages = {};                           ///< of the texts, of a model for several
  double significance = 0.05;  ///< largest p at which a difference from the usual search counts, 0 to 1 (1: always)

  /// Throws Error(kUsage): nothing to try, a value that SearchOptions::check refuses, "metric is \"loss\", ...",
  /// "significance is 2, must be 0 to 1".
  void check() const;
};

/// Returns the number of searches that `try_searches` tries.
int64_t number_of_searches(const SearchTuning& tuning);

/// One search and how its translations score.
struct TunedSearch {
  decoding::SearchOptions search;
  std::vector<std::string> texts;
  double bleu = 0.0;  ///< 0 to 100
  double chrf = 0.0;  ///< 0 to 100
  size_t cut = 0;     ///< translations that were cut at the longest length; most of them go round in circles

  double score(ValidationMetric metric) const { return metric == ValidationMetric::kChrf ? chrf : bleu; }
};

/// Translates `sources` with the usual search, `tuning.search`, and with every beam size and every alpha; greedy search
/// (beam 1) once, as no alpha changes it.
/// @param done  is told each result as it comes
/// @return  all results in the order tried: the usual search, then the others by beam size and alpha
/// Throws Error(kBadData) when sources and references differ in number: "tune: 3 source lines, 2 target lines".
std::vector<TunedSearch> try_searches(const decoding::Translator& translator, std::span<const std::string> sources,
                                      const std::vector<std::string>& references, const SearchTuning& tuning,
                                      const std::function<void(const TunedSearch&)>& done);

/// The search that scores highest beside the usual one.
struct SearchChoice {
  const TunedSearch* best;  ///< of equals the first: the usual one, then the cheapest
  const TunedSearch* usual;
  double p_value;            ///< that so large a difference is chance, by paired bootstrap; 1 when they are the same
  const TunedSearch* taken;  ///< the best if it is the better one by `SearchTuning::significance`, else the usual one
};

/// What a text of finite length allows to choose: the highest of many scores is partly luck, most of all of a length
/// penalty that fits the references' length, so the usual search stays unless another one beats it beyond chance.
/// @param results  of `try_searches` with the same tuning and references; must outlive the choice
/// Source: Koehn 2004, "Statistical Significance Tests for Machine Translation Evaluation", section 4, 1,000 resamples.
SearchChoice choose_search(std::span<const TunedSearch> results, const std::vector<std::string>& references,
                           const SearchTuning& tuning);

}  // namespace dragoman::training
