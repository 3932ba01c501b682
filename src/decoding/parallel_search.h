#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/worker_pool.h"
#include "decoding/search/hypothesis.h"
#include "decoding/search/options.h"
#include "decoding/search/search_loop.h"
#include "decoding/search/sentence_request.h"
#include "decoding/shortlist.h"
#include "decoding/steps/alignment.h"
#include "decoding/steps/model_steps.h"

namespace dragoman::decoding {

/// What came out for one source sentence, best first.
struct SearchOutput {
  std::vector<Hypothesis> hypotheses;
  std::vector<Alignment> alignments;   ///< one a hypothesis if asked for, else empty
  std::exception_ptr error = nullptr;  ///< why there is nothing, with OnError::kReport
};

/// A thread's own: an arena, what steps through the model, and the threads it shares products with (null: none). It has
/// no sentence in it while it is idle.
struct SearchWorker {
  std::shared_ptr<tensor::Allocator> arena;
  std::unique_ptr<SentenceSteps> steps;
  std::unique_ptr<base::WorkerPool> team;
};

/// Searches many sentences, ids to ids. Each worker thread has an arena and a decoder state of its own, kept from
/// call to call. Sentences are taken longest first; a worker admits more as soon as others have finished. A result
/// never depends on the sentences beside it, on batch_tokens or on the number of workers.
/// Safe for use by any number of threads at once.
class ParallelSearch {
 public:
  using Models = std::vector<std::shared_ptr<const models::Model>>;
  explicit ParallelSearch(std::shared_ptr<const models::Model> model) : ParallelSearch(Models{std::move(model)}) {}
  /// Several models that read and write the same ids are searched as one, see EnsembleSteps.
  /// @param shortlist  of them, null for none
  explicit ParallelSearch(Models models, std::shared_ptr<const Shortlist> shortlist = nullptr)
      : models_(std::move(models)), shortlist_(std::move(shortlist)) {}

  /// @param sources  ids with the end, 1 to max_positions each;  @param requests  none, or one a source
  /// @return in the order of `sources`
  /// Throws Error(kUsage) for what the options cannot ask for. With kThrow also for what a request cannot ask for, and
  /// what on_ids throws; with kReport these are the sentence's own error, and a worker that fails, for want of memory
  /// say, fails the sentences that it has under way: the others are searched by a new one.
  std::vector<SearchOutput> run(std::span<const std::vector<int32_t>> sources, const SearchOptions& options,
                                std::span<const SentenceRequest> requests = {},
                                OnError on_error = OnError::kThrow) const;

  /// Throws Error(kUsage) for options that are out of range or do not fit the models: "shortlist: the model has none;
  /// make one with dragoman shortlist --model DIR --source FILE, or translate without".
  void check(const SearchOptions& options) const;

  /// The first model: alignments are read from it.
  const models::Model& model() const { return *models_.front(); }
  /// The longest sentence that all models take.
  int64_t max_positions() const;
  /// Of all idle workers together; tests read it.
  tensor::ArenaCounters arena_counters() const;

  /// What one sentence may grow to. Throws Error(kUsage) for a prefix that leaves no room: "prefix: 80 pieces, the
  /// model takes 80 tokens; ...".
  SearchLimits limits_of(size_t source_length, const SearchOptions& options, const SentenceRequest& request) const;
  /// The request as a search wants it: with what is computed from the source.
  SentenceRequest completed(SentenceRequest request, std::span<const int32_t> source,
                            const SearchOptions& options) const;
  /// Null for none.
  const Shortlist* shortlist() const { return shortlist_.get(); }
  /// Alignments added where the options want them.
  SearchOutput output_of(std::span<const int32_t> source, std::vector<Hypothesis> hypotheses,
                         const SearchOptions& options) const;
  /// A worker for a thread of one's own, and back. One that failed with sentences in it is dropped, not kept.
  /// @param threads  of its team, the caller's counted; 1 = it works alone
  std::unique_ptr<SearchWorker> take_worker(int threads) const;
  void give_back(std::unique_ptr<SearchWorker> worker) const;

 private:
  class Job;
  bool work(Job& job, int team_size) const;
  std::unique_ptr<SearchWorker> idle_or_new_worker() const;

  Models models_;
  std::shared_ptr<tensor::Allocator> memory_ = tensor::Arena::current();  // of the device of the models
  std::shared_ptr<const Shortlist> shortlist_;
  mutable std::atomic<int> runs_ = 0;  // under way
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<SearchWorker>> idle_;
};

}  // namespace dragoman::decoding
