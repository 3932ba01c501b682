#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "decoding/sentence_search.h"

namespace dragoman::decoding {

/// The result of one sentence, under the number its caller gave it.
struct SearchResult {
  size_t sentence;
  std::vector<Hypothesis> hypotheses;  ///< the n best, best first
};

/// Drives any number of sentence searches with one model: each step feeds the hypotheses of all sentences at once.
/// Sentences finish independently and free their slots; others may be added between steps (continuous batching).
class SearchLoop {
 public:
  SearchLoop(StepModel& model, const SearchOptions& options) : model_(model), options_(options) {}

  /// Starts a sentence whose slot is ready in the model.
  void add(size_t sentence, int32_t slot, const SearchLimits& limits, const SentenceRequest& request = {});
  /// One token for every hypothesis. Appends the sentences that finished to `results`.
  void step(std::vector<SearchResult>& results);
  bool empty() const { return active_.empty(); }
  size_t size() const { return active_.size(); }

 private:
  struct Active {
    size_t sentence;
    int32_t slot;
    std::unique_ptr<SentenceSearch> search;
    size_t row_count = 0;
  };

  ScoredPrefix score_prefix(int32_t slot, const SentenceRequest& request, bool with_attention);
  void collect_rows();
  void remove_finished(std::vector<SearchResult>& results);

  StepModel& model_;
  SearchOptions options_;
  std::vector<Active> active_;
  std::vector<StepRow> rows_;
};

}  // namespace dragoman::decoding
