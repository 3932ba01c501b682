#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "data/vocabulary/vocabulary.h"
#include "decoding/parallel_search.h"
#include "decoding/search_service.h"

namespace dragoman::decoding {

/// How texts are continued, beside the options of the search.
struct GenerationOptions {
  int64_t max_tokens = 128;         ///< at most so many new tokens, and never more than the context has room for
  std::vector<std::string> stop{};  ///< a text ends before the first of them
  SearchOptions search = generation_search();

  /// Returns: the search of a language model where nobody asks for another: draws at temperature 0.8 among the
  /// likeliest 95 %.
  static SearchOptions generation_search();
  /// Throws: Error(kUsage) naming the option.
  void check() const;
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

/// Prompts in, continuations out. Holds a language model and its vocabulary.
/// The continuation of a prompt depends on the prompt, the options and the number of the sample alone, not on what is
/// generated beside it.
/// Threads: any number at once.
class Generator {
 public:
  /// Throws: Error(kBadData) if the vocabulary has more pieces than the model; Error(kUsage) for a model that is no
  /// language model.
  Generator(std::shared_ptr<const models::Model> model, data::Vocabulary vocabulary, ServiceThreads threads = {});

  /// Continues prompts together; the results stand in their order.
  /// Throws: Error(kUsage) for options out of range. Without kReport also the error of a prompt: one that is too long,
  /// "prompt: 1,100 tokens, the model takes 1,024, the new ones counted; give a shorter prompt".
  std::vector<Continuation> generate(std::span<const GenerationRequest> requests, const GenerationOptions& options,
                                     OnError on_error = OnError::kThrow) const;

  using Done = std::function<void(Continuation continuation, std::exception_ptr error)>;
  /// Continues a prompt together with those under way. The first call starts the threads. `done` is called once, in a
  /// worker's thread; it must not throw or wait.
  void submit(const GenerationRequest& request, const GenerationOptions& options, Done done) const;

  /// Returns: the ids that the model reads for a prompt. An empty prompt is the token that begins or ends a text; where
  /// the vocabulary has none, a line end.
  /// Throws: Error(kUsage) for an empty prompt where there is no such token.
  std::vector<int32_t> prompt_ids(const std::string& prompt) const;

  const models::Model& model() const { return search_.models().first(); }
  const data::Vocabulary& vocabulary() const { return vocabulary_; }
  int64_t context() const { return search_.models().max_positions(); }

 private:
  class Job;

  data::Vocabulary vocabulary_;
  ParallelSearch search_;
  ServiceThreads threads_;
  mutable std::once_flag service_started_;
  mutable std::unique_ptr<SearchService> service_;  // ends before what it searches with
};

}  // namespace dragoman::decoding
