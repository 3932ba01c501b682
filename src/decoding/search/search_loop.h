#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <vector>

#include "decoding/search/sentence_search.h"

namespace dragoman::decoding {

/// The result of one sentence, under the number its caller gave it.
struct SearchResult {
  size_t sentence;
  std::vector<Hypothesis> hypotheses;  ///< the n best, best first
  std::exception_ptr error = nullptr;  ///< what its search threw, with OnError::kReport; there are no hypotheses then
};

/// What a loop does when the search of one sentence throws.
enum class OnError {
  kThrow,   ///< `add` and `step` throw it; the loop is of no use afterwards
  kReport,  ///< the sentence ends with the error in its result, and the others go on
};

/// Drives any number of sentence searches with one model: each step feeds the hypotheses of all sentences at once.
/// Sentences finish independently and free their slots; others may be added between steps (continuous batching).
class SearchLoop {
 public:
  SearchLoop(StepModel& model, const SearchOptions& options, OnError on_error = OnError::kThrow)
      : model_(model), options_(options), on_error_(on_error) {}

  /// Starts a sentence whose slot is ready in the model.
  void add(size_t sentence, int32_t slot, const SearchLimits& limits, const SentenceRequest& request = {});
  /// The same with options of its own.
  void add(size_t sentence, int32_t slot, const SearchLimits& limits, const SentenceRequest& request,
           const SearchOptions& options);
  /// One token for every hypothesis. Appends the sentences that finished to `results`, those first that were cancelled
  /// or out of time before the step.
  void step(std::vector<SearchResult>& results);
  bool empty() const { return active_.empty(); }
  size_t size() const { return active_.size(); }

 private:
  struct Active {
    size_t sentence;
    int32_t slot;
    std::unique_ptr<SentenceSearch> search;
    SentenceRequest request;
    size_t row_count = 0;
    size_t n_streamed = 0;   // pieces that on_ids has had
    bool cancelled = false;  // by on_ids
    std::exception_ptr error = nullptr;
  };

  template <typename Action>
  void guard(Active& active, const Action& action) const;
  ScoredPrefix score_prefix(int32_t slot, const SentenceRequest& request, std::span<const int> attention_layers);
  void show_attention(Active& active, int64_t first_row) const;
  void stop_those_asked();
  void collect_rows();
  void step_model();
  void advance_all();
  void remove_finished(std::vector<SearchResult>& results);

  StepModel& model_;
  SearchOptions options_;
  OnError on_error_;
  std::vector<Active> active_;
  std::vector<StepRow> rows_;
  std::vector<int> attention_layers_;  // of all that are active
  tensor::Tensor logits_;              // [R, V] of the step, where a search must see all; else undefined
  kernels::BestLogits best_;           // of the step, where a search can do with them
};

}  // namespace dragoman::decoding
