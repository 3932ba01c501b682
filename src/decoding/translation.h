#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decoding/search/hypothesis.h"

namespace dragoman::decoding {

/// The translation of one line.
struct Translation {
  std::string text;                 ///< one line of valid UTF-8
  std::vector<std::string> pieces;  ///< sub-words of the translation, without the end; spaces are U+2581
  std::vector<int32_t> ids;         ///< their ids
  std::vector<float> token_scores;  ///< log-probability (nats) of each piece, and of the end if it was generated
  double score = 0.0;               ///< sum of the log-probabilities
  double normalised_score =
      0.0;  ///< score / length penalty: what the search ranks by; with a reverse model see Reranker
  std::optional<double> reverse_score;  ///< log p(source | text) in nats by the reverse model, where one was asked
  FinishReason finish_reason = FinishReason::kEndOfSentence;
  std::vector<std::string> source_pieces;  ///< what the model read, the end included
  Alignment alignment;                     ///< [pieces, source_pieces] if asked for, else empty
  std::vector<Translation> alternatives;   ///< the next best, n_best - 1 at most; their source_pieces are left empty
  std::string error;                       ///< empty, or why there is no translation (OnError::kReport)
  std::string warning;                     ///< empty, or what had to be done: "2,310 tokens ...: translated in 3 parts"
};

}  // namespace dragoman::decoding
