#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <vector>

#include "decoding/search/sentence_search.h"

namespace dragoman::decoding {

/// What the search of one sentence found.
struct SearchResult {
  size_t sentence = 0;                      ///< the caller's number of it; in a batch run its place
  std::vector<Hypothesis> hypotheses = {};  ///< the n best, best first
  BeamTree tree = {};                       ///< of a beam search whose request keeps it, else empty
  std::exception_ptr error = nullptr;       ///< what its search threw; there are no hypotheses then
};

/// Drives any number of sentence searches with one model: each step feeds the hypotheses of all sentences at once.
/// Sentences finish independently and free their slots; others may be added between steps (continuous batching). What
/// the search of a sentence throws ends this sentence with the error in its result, and the others go on.
class SearchLoop {
 public:
  /// @param model  must outlive the loop
  explicit SearchLoop(StepModel& model) : model_(model) {}

  /// Starts a sentence whose slot is ready in the model.
  void add(size_t sentence, int32_t slot, const SearchLimits& limits, const SearchOptions& options,
           const SentenceRequest& request = {});
  /// Computes one token for every hypothesis. Appends the sentences that finished to `results`, those first that were
  /// cancelled or out of time before the step.
  /// Throws: what the model throws. The loop is of no use afterwards.
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
  static void guard(Active& active, const Action& action);
  ScoredPrefix score_prefix(int32_t slot, const SentenceRequest& request, std::span<const int> attention_layers);
  const tensor::Tensor& attention_of(int layer);
  void show_attention(Active& active, int64_t first_row);
  void stop_those_asked();
  void collect_rows();
  void step_model();
  void advance_all();
  void remove_finished(std::vector<SearchResult>& results);

  StepModel& model_;
  std::vector<Active> active_;
  std::vector<StepRow> rows_;
  std::vector<int> attention_layers_;             // of all that are active
  std::map<int, tensor::Tensor> step_attention_;  // [R, longest source] by layer, in host memory, as far as asked for
  tensor::Tensor logits_;                         // [R, V] of the step, where a search must see all; else undefined
  kernels::BestLogits best_;                      // of the step, where a search can do with them
};

}  // namespace dragoman::decoding
