#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "decoding/search/hypothesis.h"
#include "decoding/search/options.h"
#include "decoding/search/sentence_request.h"

namespace dragoman::decoding {

/// Tokens of a full context, those that always stay left out: one leaves, one stays, and one more may begin the text.
inline constexpr int64_t kLeastThatMoves = 3;

/// How texts are continued, beside the options of the search.
struct GenerationOptions {
  /// New tokens at most. Without context_shift, never more than the context has room for.
  int64_t max_tokens = 128;
  std::vector<std::string> stop{};  ///< a text ends before the first of them
  /// When the context is full, its older half leaves and the text goes on as one whose prompt is what is left.
  bool context_shift = false;
  int64_t context_keep = 0;  ///< tokens at the beginning of the text that never leave
  SearchOptions search = generation_search();

  /// Returns: the search of a language model where nobody asks for another: draws at temperature 0.8 among the
  /// likeliest 95 %.
  static SearchOptions generation_search();
  /// Throws: Error(kUsage) naming the option.
  void check() const;
  /// Throws: Error(kUsage) for options that are too large for the context of a model.
  void check_fits(int64_t context) const;
};

/// How probable a model finds a prompt. The first token has no score.
struct PromptScores {
  std::vector<float> token_scores = {};                  ///< log-probability (nats) of each later token
  std::vector<std::vector<LikelyToken>> likeliest = {};  ///< at the place of each of them, if requested
};

/// A part of a text that will not change again.
struct GeneratedPart {
  std::string text;          ///< may be empty, while a character is not complete or a stop string may have begun
  std::vector<int32_t> ids;  ///< tokens since the last part; of a stopped text those of the stop string too
  /// Of each of these tokens, and of the end with the last part, as in Continuation. Empty from a beam search.
  std::vector<float> token_scores = {};
  std::vector<std::vector<LikelyToken>> likeliest = {};
  PromptScores prompt_scores = {};  ///< with the first part, if requested
};

/// A prompt to continue.
struct GenerationRequest {
  std::string prompt = {};
  std::vector<int32_t> prompt_ids = {};    ///< in place of `prompt`, if not empty
  std::optional<int64_t> max_tokens = {};  ///< in place of that of the options
  uint64_t sample = 0;                     ///< keeps the random numbers of several samples of one prompt apart
  int likeliest = 0;                       ///< number of likeliest tokens to tell of each step; none of a beam search
  bool scores_prompt = false;              ///< whether the continuation has `prompt_scores`
  /// Is told of every token once, in order, as soon as it is sure. Runs in a worker's thread; false cancels.
  std::function<bool(const GeneratedPart&)> on_part = {};
  std::stop_token cancel = {};
  std::optional<Deadline> deadline = {};
};

/// The continuation of a prompt.
struct Continuation {
  std::string text;                 ///< valid UTF-8, without the prompt
  std::vector<int32_t> prompt_ids;  ///< what the model read
  std::vector<int32_t> ids;         ///< new tokens, the end left out
  std::vector<float> token_scores;  ///< log-probability (nats) of each token, and of the end if it was generated
  double score = 0.0;               ///< their sum
  std::vector<std::vector<LikelyToken>> likeliest = {};       ///< of each of `token_scores`, if requested
  PromptScores prompt_scores = {};                            ///< if requested
  FinishReason finish_reason = FinishReason::kEndOfSentence;  ///< also for a stop string
  std::string error;                                          ///< empty, or why there is no text (OnError::kReport)
};

}  // namespace dragoman::decoding
