#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "decoding/search/hypothesis.h"
#include "decoding/search/options.h"
#include "decoding/search/phrases.h"
#include "decoding/search/special_tokens.h"

namespace dragoman::decoding {

using Deadline = std::chrono::steady_clock::time_point;

/// One sentence to search, and what it asks for beside the options that it shares with others.
struct SentenceRequest {
  /// Ids of the sentence, the end included: [S].
  std::vector<int32_t> source = {};
  /// Pieces that the translation must begin with; they count towards its length.
  std::vector<int32_t> prefix = {};
  /// The log-probability of this many pieces at the begin of `prefix` counts 0: the model is made to write them and had
  /// no choice, such as the code of a language.
  size_t unscored = 0;
  /// What the translation must hold, see PhraseConstraints. 64 at most.
  Phrases phrases = {};
  /// Is given the pieces of the first hypothesis as soon as they are sure: each piece once, in order, several at a time
  /// in beam search, the prefix too. Together they are the ids of the hypothesis returned. With the last of them, of
  /// which there may be none, is_end is true. Runs in a worker's thread; false cancels the sentence.
  std::function<bool(std::span<const int32_t> new_ids, bool is_end)> on_ids = {};
  /// Is shown the first hypothesis as it stands, before each call of `on_ids`. Greedy search and sampling call it.
  std::function<void(const Hypothesis&)> on_scores = {};
  /// The number of tokens of Hypothesis::likeliest. Greedy search and sampling collect them.
  int likeliest = 0;
  /// Ends the search with the best so far, kCancelled, before its next step.
  std::stop_token cancel = {};
  /// The same with kDeadline, once this time is reached.
  std::optional<Deadline> deadline = {};
  /// At most this many tokens are generated, the end counted; none = as the options say.
  std::optional<int64_t> max_length = {};
  /// Whether the result has the tree of a beam search. Greedy search is then a beam search of one.
  bool keeps_tree = false;

  /// The tokens that mean something in this sentence.
  SpecialTokens special = {};
  /// The source is a prompt, which the model continues: both stand in its context together, and the rules against
  /// repetition look at both.
  bool continues_source = false;
  /// Keeps the random numbers of several samples of one source apart.
  uint64_t sample = 0;

  // SearchModels::complete computes what follows.
  /// The decoder layer (kLastLayer, or from 0) whose attention in the steps of the search makes the alignments of the
  /// hypotheses; none = no alignments.
  std::optional<int> alignment_layer = {};
  /// Pieces that the translation may hold, rising; empty = all. Made of the model's shortlist where the options ask.
  std::vector<int32_t> allowed = {};
  /// Names the sentence to the random numbers, see random_stream.
  uint64_t random_stream = 0;

  /// Why the search is to end now, if it is.
  std::optional<FinishReason> stop_reason() const;
};

/// A number made of the source pieces, so that what is drawn for a line depends neither on its neighbours nor on its
/// place among them: the same line always gets the same samples, unless the seed changes. FNV-1a, 64 bits.
uint64_t random_stream(std::span<const int32_t> source);

}  // namespace dragoman::decoding
