#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/vocabulary/vocabulary.h"
#include "decoding/generation_request.h"
#include "decoding/search/search_loop.h"
#include "decoding/text_stream.h"

namespace dragoman::decoding {

/// A request under way: what it asks of the search, and the stream that its tokens go through. One search is enough
/// unless the context is full and GenerationOptions::context_shift is on; then another search continues the tokens that
/// are left. Order of calls: (next_search, the search, take_result) until take_result returns false, then finish.
/// Threads: one at a time.
class GenerationJob {
 public:
  /// @param context  of the model, in tokens;  @param prompt  ids, not empty
  /// Throws: Error(kUsage) for a prompt that fills the context: "prompt: 1,100 tokens, the model takes 1,024; ...".
  GenerationJob(data::Vocabulary vocabulary, int64_t context, GenerationRequest request, GenerationOptions options,
                std::vector<int32_t> prompt);
  GenerationJob(const GenerationJob&) = delete;
  GenerationJob& operator=(const GenerationJob&) = delete;

  /// Requires: this outlives the search.
  SentenceRequest next_search();
  /// Returns: whether the text is to go on with another search. Throws: the error of the result.
  bool take_result(const SearchResult& result);
  /// Returns: the whole continuation. At most once.
  Continuation finish();

 private:
  PromptScores cut_prompt(Hypothesis& hypothesis) const;
  void take_scores(const Hypothesis& hypothesis);
  bool take(std::span<const int32_t> ids, bool is_end);
  void append(Hypothesis part);
  bool goes_on_after(size_t tokens) const;
  void shift();

  data::Vocabulary vocabulary_;
  int64_t context_;
  GenerationRequest request_;
  const GenerationOptions options_;
  std::vector<int32_t> text_;  // what the search under way continues
  TextStream stream_;
  Continuation continuation_;  // of the searches so far
  size_t scored_prompt_ = 0;   // tokens of the prompt that the search under way scores
  size_t streamed_ = 0;        // new tokens of the search under way that `take` has seen
  size_t unread_ = 0;          // tokens of the prompt that the search will still tell
  size_t scored_ = 0;          // scores that the search has shown, those of the prompt included
  bool cancelled_ = false;     // by on_part
  bool told_end_ = false;      // to on_part
  PromptScores prompt_scores_;
  std::vector<float> token_scores_;
  std::vector<std::vector<LikelyToken>> likeliest_;
};

}  // namespace dragoman::decoding
