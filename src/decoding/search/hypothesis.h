#pragma once

#include <cstdint>
#include <vector>

#include "base/names.h"
#include "decoding/search/alignment.h"

namespace dragoman::decoding {

/// Why a hypothesis grows no further.
enum class FinishReason {
  kEndOfSentence,   ///< the model ended it
  kLengthLimit,     ///< it reached the longest length allowed and was cut
  kPhrasesMissing,  ///< it was cut so before it held every phrase that was demanded
  kCancelled,       ///< who asked for the sentence ended its search
  kDeadline,        ///< the time given to the sentence was over
};

constexpr base::Names<FinishReason> names_of(FinishReason) {
  return {"finish_reason",
          {{FinishReason::kEndOfSentence, "end_of_sentence"},
           {FinishReason::kLengthLimit, "length_limit"},
           {FinishReason::kPhrasesMissing, "phrases_missing"},
           {FinishReason::kCancelled, "cancelled"},
           {FinishReason::kDeadline, "deadline"}}};
}
using base::name_of;

/// A token that a step could have generated.
struct LikelyToken {
  int32_t id;
  float log_prob;  ///< nats, at temperature 1
};

/// One finished output of a search.
struct Hypothesis {
  std::vector<int32_t> ids = {};         ///< generated pieces, without begin and end of sentence
  std::vector<float> token_scores = {};  ///< log-probability (nats) of each piece, and of the end if it was generated
  double score = 0.0;                    ///< sum of the log-probabilities, the end's included
  double normalised_score = 0.0;         ///< score / length_penalty(number of token_scores)
  FinishReason finish_reason = FinishReason::kEndOfSentence;
  Alignment alignment = {};  ///< [ids, S] if requested, else empty
  /// The likeliest tokens of each step of `token_scores`, the likeliest first; empty if not requested.
  std::vector<std::vector<LikelyToken>> likeliest = {};
};

/// What bounds the search of one sentence.
struct SearchLimits {
  int64_t min_length = 0;  ///< pieces before the end may come
  int64_t max_length = 1;  ///< generated tokens, the end counted
};

}  // namespace dragoman::decoding
