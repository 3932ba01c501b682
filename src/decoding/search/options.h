#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace dragoman::decoding {

class BannedPhrases;

/// How the score of a hypothesis is divided, so that long ones are not at a loss. The same alpha means different
/// searches under different formulas, so the formula is named. len = generated tokens, the sentence end included.
enum class LengthPenalty {
  kGnmt,    ///< ((5 + len) / 6)^alpha: Wu et al. 2016, section 7, eq. 14; used by the paper (section 6.1)
  kLength,  ///< len^alpha: the mean log-probability for alpha = 1
};

/// What becomes of a beam when a hypothesis is finished.
enum class BeamRule {
  kShrinking,  ///< it takes its place with it: the beam is narrower from then on
  kFull,       ///< its place is filled again: as many as beam_size live on until the end
};

/// Everything a translation can be asked for. JSON keys, YAML keys and flags carry these names.
struct SearchOptions {
  /// Hypotheses kept a sentence. 1 to 128; 1 is greedy search. Default 4 (paper, section 6.1).
  int beam_size = 4;
  /// Formula that divides the sum of log-probabilities. Default gnmt.
  LengthPenalty length_penalty = LengthPenalty::kGnmt;
  /// Exponent of the length penalty. -5 to 5; 0 = no penalty, below 0 the long ones are at a greater loss, which keeps
  /// a reverse model, whose share grows with length, from making translations longer. Default 0.6 (paper, section 6.1).
  double alpha = 0.6;
  /// Fewest pieces of a translation, its end not counted. 0 to 100,000. Default 0.
  int min_length = 0;
  /// Longest translation in tokens, its end counted: max_length_ratio * S + max_length_extra, S = source tokens with
  /// their end, and never more than the model's positions. 0 to 100. Default 1 (paper: input length + 50).
  double max_length_ratio = 1.0;
  /// See max_length_ratio. Tokens, 0 to 100,000. Default 50 (paper, section 6.1).
  int max_length_extra = 50;
  /// Translations returned a sentence, best first. 1 to beam_size, and to what patience lets finish; 1 to 128 with
  /// sampling or alternatives. Default 1.
  int n_best = 1;
  /// Whether finished hypotheses keep a place in the beam (see BeamSearch). Default shrinking.
  BeamRule beam_rule = BeamRule::kShrinking;
  /// Stop a sentence once no live hypothesis can still enter the n best (see BeamSearch). Never changes the result,
  /// only saves time. Default true.
  bool early_stop = true;
  /// Source tokens in work at a time in one worker. 1 to 1,000,000. Default 1024. Never changes the result; with more,
  /// keys and values leave the cache, with fewer, products of small models are less efficient.
  int64_t batch_tokens = 1024;
  /// Threads, each with sentences of its own. 0 to 1024; 0 = one a core. Default 0. Never changes the result.
  int workers = 0;
  /// Threads that compute the products of one worker together, for an answer sooner where sentences come one at a time.
  /// 0 to 64; 0 = a call with fewer sentences than workers gives each the threads that are left. Default 0. Never
  /// changes the result.
  int threads_per_worker = 0;
  /// Log-probabilities are wanted. Without them greedy search never sums over the vocabulary and gives every score as
  /// 0; pieces and other searches stay as they are. Default true.
  bool scores = true;
  /// Also align target pieces with source pieces by cross-attention weights. Default false.
  bool alignment = false;
  /// Decoder layer the alignment is read from: 0 = first; -1 = last. Default -1.
  int alignment_layer = -1;
  /// Makes pieces that a translation holds already less likely (see LogitsRules). 1 to 10; 1 = none. Default 1.
  double repetition_penalty = 1.0;
  /// No run of so many pieces comes twice in a translation. 0 to 100; 0 = no such rule. Default 0.
  int no_repeat_ngram = 0;
  /// Never generate the unknown piece. Default true.
  bool disable_unk = true;
  /// Phrases that no translation may hold. Null = none. Default null.
  std::shared_ptr<const BannedPhrases> banned;
  /// Above 0, tokens are drawn at random from softmax(logits / temperature) instead of searched for, and n_best
  /// samples are returned in the order they were drawn; beam_size, patience and early_stop then say nothing. Below 1
  /// prefers likely tokens, towards 0 it is greedy search. 0 to 100; 0 = no sampling. Default 0.
  double sampling_temperature = 0.0;
  /// Draw among the k likeliest tokens only (Fan et al. 2018). 0 to 1,000,000; 0 = all. Default 0.
  int sampling_top_k = 0;
  /// Draw among the fewest likeliest tokens whose probabilities reach p together (Holtzman et al. 2020), after
  /// temperature and top-k. Above 0, to 1; 1 = all. Default 1.
  double sampling_top_p = 1.0;
  /// Of the random numbers. A draw is a function of seed, source pieces, number of the sample and position alone.
  uint64_t seed = 1;
  /// A search ends when patience * beam_size (rounded, at least 1) hypotheses are finished (Kasai et al. 2022). 0.1 to
  /// 10. Default 1.
  double patience = 1.0;
  /// Return the n_best likeliest next tokens after the prefix, the likeliest first, each continued by a search of its
  /// own (see AlternativesSearch), instead of the n best translations. n_best may then be 1 to 128. Default false.
  bool alternatives = false;
  /// beta of the coverage penalty (see CoverageTable). 0 to 10; 0 = none. Default 0.
  double coverage_penalty = 0.0;
  /// Weight of log p(source | translation) where the translator has a reverse model (see Reranker). 0 to 10; 0 = the
  /// order of the search stays. Default 0.3.
  double reverse_weight = 0.3;
  /// Generate only what the model's shortlist allows the sentence (see Shortlist), which is faster. Probabilities are
  /// then those among the allowed pieces. Default false.
  bool shortlist = false;

  /// Throws Error(kUsage) naming field, value and range: "beam_size is 0, must be 1 to 128".
  void check() const;
  bool samples() const { return sampling_temperature > 0.0; }
  /// Hypotheses that must be finished for a beam search to end: max(1, round(patience * beam_size)).
  int finished_wanted() const;
  /// Most generated tokens, end included, for a source of `source_length` tokens; at least 1.
  int64_t max_length(int64_t source_length, int64_t max_positions) const;
};

/// The divisor of a score. @param length  generated tokens, >= 1. Positive, and not falling in `length` for alpha >= 0,
/// not rising for alpha <= 0.
double length_penalty(LengthPenalty kind, double alpha, int64_t length);

/// Threads for a `workers` option: `asked`, or one a core when it is 0.
int worker_count(int asked);

/// "shrinking", "full", and back (Error(kUsage) lists the choices).
std::string_view name_of(BeamRule rule);
BeamRule beam_rule_from(std::string_view name);

/// "gnmt", "length", and back (Error(kUsage) lists the choices).
std::string_view name_of(LengthPenalty kind);
LengthPenalty length_penalty_from(std::string_view name);

}  // namespace dragoman::decoding
