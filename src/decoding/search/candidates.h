#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "decoding/search/hypothesis.h"
#include "decoding/search/special_tokens.h"
#include "ops/best_logits.h"

namespace dragoman::decoding {

/// Logit of a token that must not be generated.
constexpr float kImpossible = -std::numeric_limits<float>::infinity();

/// A hypothesis extended by one token, not yet chosen.
struct Candidate {
  int32_t parent;    ///< live hypothesis it extends
  int32_t token_id;  ///< may be the end of sentence
  float log_prob;    ///< of the token, nats, <= 0
  double score;      ///< sum of log-probabilities, this token's included
};

/// log(sum(exp(logits))): log p(i) = logits[i] - this.
/// Throws Error(kRuntime) when it is not finite: "search: the model's logits are not finite; ...".
double log_normaliser(std::span<const float> logits);

/// Sets the logits of tokens that must not be generated to minus infinity (SpecialTokens): pad, begin of sentence, unk
/// unless `allow_unk`, and the end unless `allow_end`. The others' probabilities stay as the model gave them (no
/// renormalising), so that the score of a translation is the one `score` computes.
void forbid_tokens(std::span<float> logits, const SpecialTokens& special, bool allow_end, bool allow_unk = false);

/// Returns the `count` likeliest tokens of one hypothesis by its logits [V], whether a search may choose them or not;
/// fewer if fewer are possible. @param normaliser  log_normaliser(logits)
std::vector<LikelyToken> likeliest(std::span<const float> logits, double normaliser, int count);
/// The same from the largest logits, of which `best` has at least `count` or all.
std::vector<LikelyToken> likeliest(const kernels::BestRow& best, int count);

/// How one live hypothesis is to be extended.
struct Expansion {
  int32_t parent;                         ///< its place among the live ones
  double score;                           ///< its sum of log-probabilities
  bool allow_end;                         ///< the sentence may end here
  int count;                              ///< extensions wanted
  bool allow_unk = false;                 ///< the unknown piece may be generated
  std::optional<double> normaliser = {};  ///< log_normaliser of the logits before a rule changed them
  std::span<const int32_t> also = {};     ///< tokens wanted besides, however improbable
  SpecialTokens special = {};
};

/// Appends the `count` most probable one-token extensions of one hypothesis, best first, ties to the lower id; fewer
/// when fewer have a probability above 0. Then those of `also` that are not among them and have one.
/// @param logits  [V] of the hypothesis; overwritten by forbid_tokens
void expand(std::span<float> logits, const Expansion& expansion, std::vector<Candidate>& candidates);

/// In translation, only tokens before this one are ever forbidden.
constexpr int32_t kFirstAllowed = data::kEosId + 1;

/// Returns the number of logits of a row that `count` extensions of it need: some of the largest may be forbidden.
int best_logits_for(size_t count, const SpecialTokens& special = {});

/// The same from the largest logits of the hypothesis, best_logits_for(count) of them or all V; no rule has changed
/// them and `also` is empty. Appends the same candidates.
void expand(const kernels::BestRow& best, const Expansion& expansion, std::vector<Candidate>& candidates);

/// Keeps the `count` best by score, best first; ties: lower parent, then lower token id.
void prune(std::vector<Candidate>& candidates, size_t count);

}  // namespace dragoman::decoding
