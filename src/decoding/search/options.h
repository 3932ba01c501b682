#pragma once

#include <cstdint>
#include <memory>

#include "base/fields.h"

namespace dragoman::decoding {

class BannedPhrases;

/// How the score of a hypothesis is divided, so that long ones are not at a loss. The same alpha means different
/// searches under different formulas, so the formula is named. len = generated tokens, the sentence end included.
enum class LengthPenalty {
  kGnmt,    ///< ((5 + len) / 6)^alpha: Wu et al. 2016, section 7, eq. 14; used by the paper (section 6.1)
  kLength,  ///< len^alpha: the mean log-probability for alpha = 1
};

constexpr base::Names<LengthPenalty> names_of(LengthPenalty) {
  return {"length_penalty", {{LengthPenalty::kGnmt, "gnmt"}, {LengthPenalty::kLength, "length"}}};
}
inline LengthPenalty length_penalty_from(std::string_view name) {
  return base::from_name<LengthPenalty>(name);
}

/// What becomes of a beam when a hypothesis is finished.
enum class BeamRule {
  kShrinking,  ///< it takes its place with it: the beam is narrower from then on
  kFull,       ///< its place is filled again: as many as beam_size live on until the end
};

constexpr base::Names<BeamRule> names_of(BeamRule) {
  return {"beam_rule", {{BeamRule::kShrinking, "shrinking"}, {BeamRule::kFull, "full"}}};
}
using base::name_of;

/// The largest beam_size.
constexpr int kWidestBeam = 128;

/// How searches are computed. No field changes a result.
struct ExecutionOptions {
  /// With more, keys and values leave the cache, with fewer, products of small models are less efficient.
  int64_t batch_tokens = 1024;
  int workers = 0;             ///< each with sentences of its own
  int threads_per_worker = 0;  ///< for an answer sooner where sentences come one at a time

  static constexpr const char* kTitle = "Speed";  ///< in --help
  /// Calls visit(base::Field) for each field.
  template <typename Visit>
  static void fields(Visit&& visit);
};

/// How a beam search goes on and when it ends.
struct BeamOptions {
  BeamRule rule = BeamRule::kShrinking;  ///< see BeamSearch
  double patience = 1.0;                 ///< Kasai et al. 2022
  bool early_stop = true;                ///< see BeamSearch

  static constexpr const char* kTitle = "Beam search";  ///< in --help
  template <typename Visit>
  static void fields(Visit&& visit);
};

/// How finished hypotheses are compared.
struct RankingOptions {
  LengthPenalty length_penalty = LengthPenalty::kGnmt;
  /// Paper, section 6.1. Below 0 long hypotheses are at a greater loss, which keeps a reverse model, whose share grows
  /// with length, from making translations longer.
  double alpha = 0.6;
  double coverage_penalty = 0.0;  ///< see CoverageTable
  double reverse_weight = 0.3;    ///< see Reranker

  static constexpr const char* kTitle = "Ranking of translations";  ///< in --help
  template <typename Visit>
  static void fields(Visit&& visit);
};

/// How long a translation may be.
struct LengthOptions {
  /// The end is not counted. 1: a text has a translation, even if its immediate end is more probable.
  int min_length = 1;
  /// Longest translation in tokens: max_length_ratio * S + max_length_extra, S = source tokens. Both count the end. It
  /// is never more than the model's positions. Paper, section 6.1: input length + 50.
  double max_length_ratio = 1.0;
  int max_length_extra = 50;

  static constexpr const char* kTitle = "Length of translations";  ///< in --help
  template <typename Visit>
  static void fields(Visit&& visit);
  /// Returns: the most generated tokens, end included, for a source of `source_length` tokens; at least 1.
  int64_t longest(int64_t source_length, int64_t max_positions) const;
};

/// Which words may come (see LogitsRules).
struct RuleOptions {
  double repetition_penalty = 1.0;
  int no_repeat_ngram = 0;
  bool disable_unk = true;
  std::shared_ptr<const BannedPhrases> banned;  ///< phrases that no translation may hold; null = none

  static constexpr const char* kTitle = "Words that may come";  ///< in --help
  /// Leaves `banned` out.
  template <typename Visit>
  static void fields(Visit&& visit);
};

/// Random draws in place of a search. Samples are returned in the order they were drawn; beam_size and BeamOptions then
/// say nothing.
struct SamplingOptions {
  double temperature = 0.0;  ///< below 1 prefers likely tokens, towards 0 it is greedy search
  int top_k = 0;             ///< Fan et al. 2018
  double top_p = 1.0;        ///< Holtzman et al. 2020; after temperature and top-k
  double min_p = 0.0;        ///< Nguyen et al. 2024; after top-p
  /// A draw is a function of seed, source pieces, number of the sample and position alone.
  uint64_t seed = 1;

  static constexpr const char* kTitle = "Sampling";  ///< in --help
  template <typename Visit>
  static void fields(Visit&& visit);
};

/// What is told of a translation beside its text.
struct OutputOptions {
  /// Without scores, greedy search never sums over the vocabulary and gives every score as 0; pieces and other searches
  /// stay as they are.
  bool scores = true;
  bool alignment = false;
  int alignment_layer = -1;

  static constexpr const char* kTitle = "Scores and alignments";  ///< in --help
  template <typename Visit>
  static void fields(Visit&& visit);
};

/// Everything a translation can be asked for. `fields` says of each field what it means and which values it may have.
struct SearchOptions {
  int beam_size = 4;  ///< paper, section 6.1
  /// 1 to beam_size, and to what patience lets finish; 1 to kWidestBeam with sampling or alternatives.
  int n_best = 1;
  /// Each alternative is continued by a search of its own (see AlternativesSearch).
  bool alternatives = false;
  bool shortlist = false;  ///< probabilities are then those among the allowed pieces (see Shortlist)
  BeamOptions beam = {};
  RankingOptions ranking = {};
  LengthOptions length = {};
  RuleOptions rules = {};
  SamplingOptions sampling = {};
  OutputOptions output = {};
  ExecutionOptions execution = {};

  static constexpr const char* kTitle = "Search";  ///< in --help
  /// Calls visit(base::Field) for each field that is in no group.
  template <typename Visit>
  static void fields(Visit&& visit);
  /// Calls visit(member pointer) for each group that decides a translation. Flags stand in this order in --help.
  template <typename Visit>
  static void parts(Visit&& visit);

  /// Throws Error(kUsage) naming field, value and range: "beam_size is 0, must be 1 to 128".
  void check() const;
  bool samples() const { return sampling.temperature > 0.0; }
  /// Hypotheses that must be finished for a beam search to end: max(1, round(patience * beam_size)).
  int finished_wanted() const;
};

template <typename Visit>
void SearchOptions::parts(Visit&& visit) {
  using S = SearchOptions;
  visit(&S::ranking);
  visit(&S::length);
  visit(&S::beam);
  visit(&S::rules);
  visit(&S::sampling);
  visit(&S::output);
}

template <typename Visit>
void SearchOptions::fields(Visit&& visit) {
  using base::Field;
  using S = SearchOptions;
  visit(Field("beam_size", &S::beam_size, "Hypotheses kept a sentence; 1 = greedy search", {1, kWidestBeam})
            .in(base::kMostUsed));
  visit(Field("n_best", &S::n_best, "Translations returned a sentence, best first").under("--nbest").without_flag());
  visit(Field("alternatives", &S::alternatives,
              "With an n-best list: the likeliest next pieces after the prefix, each continued, instead of the best")
            .as_switch());
  visit(Field("shortlist", &S::shortlist,
              "Write only what the model's shortlist allows the sentence, which is faster; `dragoman shortlist` makes "
              "the list")
            .as_switch());
}

template <typename Visit>
void RankingOptions::fields(Visit&& visit) {
  using base::Field;
  using S = RankingOptions;
  visit(Field("length_penalty", &S::length_penalty,
              "What divides a score: gnmt = ((5 + len) / 6)^alpha, length = len^alpha"));
  visit(Field("alpha", &S::alpha, "Exponent of the length penalty; 0 = none", {-5, 5}));
  visit(Field("coverage_penalty", &S::coverage_penalty,
              "Beta of the penalty for source pieces that were not looked at; 0 = none", {0, 10}));
  visit(Field("reverse_weight", &S::reverse_weight,
              "With --reverse-model: weight of the log-probability of the source given the translation; 0 = the order "
              "of the search stays",
              {0, 10})
            .without_flag());
}

template <typename Visit>
void LengthOptions::fields(Visit&& visit) {
  using base::Field;
  using S = LengthOptions;
  visit(Field("min_length", &S::min_length, "Shortest translation; 0 = it may be empty", {0, 100'000}, "pieces"));
  visit(Field("max_length_ratio", &S::max_length_ratio, "Longest translation in tokens = ratio * source tokens + extra",
              {0, 100}));
  visit(Field("max_length_extra", &S::max_length_extra, "See --max-length-ratio", {0, 100'000}, "tokens"));
}

template <typename Visit>
void BeamOptions::fields(Visit&& visit) {
  using base::Field;
  using S = BeamOptions;
  visit(
      Field("beam_rule", &S::rule,
            "shrinking = a finished hypothesis takes its place in the beam with it, full = its place is filled again, "
            "as in transformers"));
  visit(Field("patience", &S::patience, "A beam search ends when patience * beam size hypotheses are finished",
              {0.1, 10}));
  visit(Field("early_stop", &S::early_stop, "Stop a search once nothing better can come; never changes the result")
            .course());
}

template <typename Visit>
void RuleOptions::fields(Visit&& visit) {
  using base::Field;
  using S = RuleOptions;
  visit(Field("repetition_penalty", &S::repetition_penalty,
              "Makes pieces that the translation has already less likely; 1 = none", {1, 10}));
  visit(Field("no_repeat_ngram", &S::no_repeat_ngram, "No run of this length comes twice in a translation; 0 = it may",
              {0, 100}, "pieces"));
  visit(Field("disable_unk", &S::disable_unk, "Never write the unknown piece"));
}

template <typename Visit>
void SamplingOptions::fields(Visit&& visit) {
  using base::Field;
  using S = SamplingOptions;
  visit(Field("sampling_temperature", &S::temperature,
              "Draw at random from softmax(logits / temperature) instead of searching; 0 = search", {0, 100}));
  visit(Field("sampling_top_k", &S::top_k, "Draw among the k likeliest; 0 = all", {0, 1'000'000}, "pieces"));
  visit(Field("sampling_top_p", &S::top_p, "Draw among the fewest likeliest pieces that reach p together; 1 = all",
              {0, 1, true}));
  visit(Field("sampling_min_p", &S::min_p, "Draw among pieces at least this times as likely as the likeliest; 0 = all",
              {0, 1}));
  visit(Field("seed", &S::seed, "Of the random numbers of sampling"));
}

template <typename Visit>
void OutputOptions::fields(Visit&& visit) {
  using base::Field;
  using S = OutputOptions;
  visit(Field("scores", &S::scores, "Compute log-probabilities").without_flag());
  visit(Field("alignment", &S::alignment, "Also align target pieces with source pieces by cross-attention weights")
            .without_flag());
  visit(Field("alignment_layer", &S::alignment_layer,
              "Decoder layer that alignments are read from; 0 = first, -1 = last", {-1, 511})
            .without_flag());
}

template <typename Visit>
void ExecutionOptions::fields(Visit&& visit) {
  using base::Field;
  using S = ExecutionOptions;
  visit(Field("batch_tokens", &S::batch_tokens,
              "Source tokens in work at a time in one worker; never changes the result", {1, 1'000'000}, "tokens")
            .course()
            .without_flag());
  visit(Field("workers", &S::workers, "Threads; 0 = one a core; never changes the result", {0, 1024})
            .course()
            .without_flag());
  visit(Field("threads_per_worker", &S::threads_per_worker,
              "Threads that compute one worker's products together; for an answer sooner where lines come one at a "
              "time: --workers 1 --threads-per-worker 2; 0 = where a read has fewer lines than there are workers, the "
              "threads that are left; never changes the result",
              {0, 64})
            .course()
            .without_flag());
}

/// Returns: the divisor of a score. It is positive, and not falling in `length` for alpha >= 0, not rising for alpha
/// <= 0. @param length  generated tokens, >= 1
double length_penalty(const RankingOptions& options, int64_t length);

}  // namespace dragoman::decoding
