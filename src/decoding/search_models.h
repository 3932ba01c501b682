#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/worker_pool.h"
#include "decoding/search/hypothesis.h"
#include "decoding/search/options.h"
#include "decoding/search/sentence_request.h"
#include "decoding/shortlist.h"
#include "decoding/steps/sentence_steps.h"
#include "models/model.h"

namespace dragoman::decoding {

/// How long the threads of a team poll for the next product before they sleep. Between two products there is less to
/// do alone.
inline constexpr std::chrono::microseconds kTeamAwake{200};

/// What one thread searches with: an arena, what steps through the models, and the threads that share its products
/// (null: none). It has no sentence in it while it is idle.
struct SearchWorker {
  std::shared_ptr<tensor::Allocator> arena;
  std::unique_ptr<SentenceSteps> steps;
  std::unique_ptr<base::WorkerPool> team;
};

/// The models that searches share, one or several that read and write the same ids (see EnsembleSteps), with their
/// shortlist and the workers that are idle.
/// Threads: any number at once.
class SearchModels {
 public:
  using List = std::vector<std::shared_ptr<const models::Model>>;
  /// @param shortlist  of the models, null for none
  explicit SearchModels(List models, std::shared_ptr<const Shortlist> shortlist = nullptr)
      : models_(std::move(models)), shortlist_(std::move(shortlist)) {}

  /// Throws: Error(kUsage) for options that are out of range or do not fit the models: "shortlist: the model has none;
  /// make one with dragoman shortlist --model DIR --source FILE, or translate without".
  void check(const SearchOptions& options) const;

  const List& all() const { return models_; }
  /// Returns: the first model, from which alignments are read.
  const models::Model& first() const { return *models_.front(); }
  /// Returns: null if there is none.
  const std::shared_ptr<const Shortlist>& shortlist() const { return shortlist_; }
  /// Returns: the length of the longest sentence that all models take.
  int64_t max_positions() const;

  /// Adds to a request what is computed from its source and the options.
  void complete(SentenceRequest& request, const SearchOptions& options) const;
  /// Returns: what a sentence may grow to.
  /// Throws: Error(kUsage) for a prefix that leaves no room: "prefix: 80 pieces, the model takes 80 tokens; ...".
  SearchLimits limits_of(const SentenceRequest& request, const SearchOptions& options) const;
  /// Computes the alignments that the options ask for and the search has not collected, because its steps do not show
  /// the attention of the layer.
  void add_alignments(std::span<const int32_t> source, const SearchOptions& options,
                      std::span<Hypothesis> hypotheses) const;

  /// Lends a worker to the calling thread. @param threads  of its team, the caller's counted; 1 = it works alone
  std::unique_ptr<SearchWorker> take_worker(int threads) const;
  /// Takes the worker back. A worker with sentences in it, one that failed, is dropped.
  void give_back(std::unique_ptr<SearchWorker> worker) const;
  /// Returns: the sums over all idle workers. Tests read them.
  tensor::ArenaCounters arena_counters() const;

 private:
  std::unique_ptr<SearchWorker> idle_or_new_worker() const;

  List models_;
  std::shared_ptr<const Shortlist> shortlist_;
  std::shared_ptr<tensor::Allocator> memory_ = tensor::Arena::current();  // of the device of the models
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<SearchWorker>> idle_;
};

}  // namespace dragoman::decoding
