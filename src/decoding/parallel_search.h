#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decoding/search/search_loop.h"
#include "decoding/search_models.h"

namespace dragoman::decoding {

/// What a batch run does when one sentence or line fails.
enum class OnError {
  kThrow,   ///< it throws the error, and nothing is returned
  kReport,  ///< the sentence ends with the error in its result, and the others go on
};

/// Searches many sentences, ids to ids. Each worker thread drives a SearchEngine. Sentences are taken longest first,
/// texts that continue their source in the order of their sources, so that those that begin alike share rows of the
/// cache. A worker admits more as soon as others have finished. A result never depends on the sentences beside it, on
/// batch_tokens or on the number of workers.
/// Threads: any number at once.
class ParallelSearch {
 public:
  using Models = SearchModels::List;
  explicit ParallelSearch(std::shared_ptr<const models::Model> model) : ParallelSearch(Models{std::move(model)}) {}
  /// Several models that read and write the same ids are searched as one, see EnsembleSteps.
  /// @param shortlist  of them, null for none
  explicit ParallelSearch(Models models, std::shared_ptr<const Shortlist> shortlist = nullptr)
      : models_(std::move(models), std::move(shortlist)) {}

  /// @param requests  each with a source of 1 to max_positions ids, the end included
  /// Returns: a result for each request, in their order.
  /// Throws: Error(kUsage) for what the options cannot ask for. With kThrow also the error of a sentence, if one fails:
  /// what its request cannot ask for, or what its on_ids throws. With kReport these stand in its result.
  std::vector<SearchResult> run(std::span<const SentenceRequest> requests, const SearchOptions& options,
                                OnError on_error = OnError::kThrow) const;
  /// The same for sentences that ask for nothing beside the options.
  std::vector<SearchResult> run(std::span<const std::vector<int32_t>> sources, const SearchOptions& options) const;

  const SearchModels& models() const { return models_; }

 private:
  class Job;

  SearchModels models_;
  mutable std::atomic<int> runs_ = 0;  // under way
};

}  // namespace dragoman::decoding
