#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "decoding/alignment.h"
#include "decoding/hypothesis.h"
#include "decoding/options.h"
#include "decoding/transformer_steps.h"

namespace dragoman::decoding {

/// What came out for one source sentence, best first.
struct SearchOutput {
  std::vector<Hypothesis> hypotheses;
  std::vector<Alignment> alignments;  ///< one a hypothesis if asked for, else empty
};

/// Searches many sentences, ids to ids. Each worker thread has an arena and a decoder state of its own, kept from
/// call to call. Sentences are taken longest first; a worker admits more as soon as others have finished. A result
/// never depends on the sentences beside it, on batch_tokens or on the number of workers.
/// Safe for use by any number of threads at once.
class ParallelSearch {
 public:
  explicit ParallelSearch(std::shared_ptr<const models::Transformer> model) : model_(std::move(model)) {}

  /// @param sources  ids with the end, 1 to max_positions each;  @return in the order of `sources`
  std::vector<SearchOutput> run(std::span<const std::vector<int32_t>> sources, const SearchOptions& options) const;

  const models::Transformer& model() const { return *model_; }
  /// Of all idle workers together; tests read it.
  tensor::ArenaCounters arena_counters() const;

 private:
  struct Worker {
    std::shared_ptr<tensor::Arena> arena;
    std::unique_ptr<TransformerSteps> steps;
  };
  class Job;

  std::unique_ptr<Worker> take_worker() const;
  void give_back(std::unique_ptr<Worker> worker) const;

  std::shared_ptr<const models::Transformer> model_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Worker>> idle_;  // a worker that failed is dropped, not kept
};

}  // namespace dragoman::decoding
