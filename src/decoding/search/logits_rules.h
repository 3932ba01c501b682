#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decoding/search/candidates.h"
#include "decoding/search/options.h"
#include "decoding/search/sentence_request.h"

namespace dragoman::decoding {

/// What SearchOptions forbids or makes less likely, applied to the logits of one hypothesis before its next token is
/// chosen. With x the logits and y the pieces so far, those of a prompt included:
/// - repetition_penalty, theta: for each id in y, x := x / theta if x > 0, else x * theta (Keskar et al. 2019, CTRL,
///   section 4.1; that a negative logit is multiplied is a departure, without it the penalty would be a reward);
/// - no_repeat_ngram, n: an id that would complete a run of n pieces which y holds already is impossible;
/// - banned: an id that would complete one of the phrases is impossible (see BannedPhrases);
/// - disable_unk false: the unknown piece is possible.
/// Impossible tokens take no probability from others: log p stays the model's (see forbid_tokens). The penalty decides
/// what a search prefers; the token scores of a hypothesis are the model's, so that `score` agrees with them.
class LogitsRules {
 public:
  /// @param request  whose source is part of the history where it is continued
  LogitsRules(const SearchOptions& options, const SentenceRequest& request)
      : options_(options), context_(request.continues_source ? request.source : std::vector<int32_t>()) {}

  /// True when nothing is asked: `expand` alone will do.
  bool empty() const {
    return !penalises() && options_.rules.no_repeat_ngram == 0 && !bans() && options_.rules.disable_unk;
  }
  /// True when what a search ranks by is no longer the sum of the model's log-probabilities.
  bool penalises() const { return options_.rules.repetition_penalty != 1.0; }

  /// `expand` under the rules; just that when there are none.
  /// @param generated  the pieces of the hypothesis, prefix included;  @param logits  [V], overwritten
  void expand(std::span<const int32_t> generated, std::span<float> logits, Expansion expansion,
              std::vector<Candidate>& candidates) const;
  /// The rules alone, on logits [V].
  void apply(std::span<const int32_t> history, std::span<float> logits) const;

 private:
  bool bans() const;
  void penalise(std::span<const int32_t> history, std::span<float> logits) const;
  void forbid_repeats(std::span<const int32_t> history, std::span<float> logits) const;
  void forbid_banned(std::span<const int32_t> history, std::span<float> logits) const;

  void apply_to(std::span<const int32_t> text, std::span<float> logits) const;
  std::vector<int32_t> text_of(std::span<const int32_t> history) const;

  SearchOptions options_;
  std::vector<int32_t> context_;  // what comes before the history
};

}  // namespace dragoman::decoding
