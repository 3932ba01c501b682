#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/text/corpus.h"
#include "training/batch_fit.h"
#include "training/train_options.h"

namespace dragoman::training {

/// What a training process may take.
struct MemoryBudget {
  uint64_t bytes = 0;
  bool asked = false;  ///< by --memory; else a share of what the machine has
  std::string name;    ///< "--memory 8.00 GiB", for messages
};

/// --memory, or half of base::available_memory divided by the processes that train on this machine.
MemoryBudget memory_budget(const RunOptions& options, int local_processes);

/// Where the memory of a training process goes, in bytes; the parts of all its workers together.
struct MemoryPlan {
  MemoryBudget budget;
  uint64_t weights = 0;
  uint64_t optimizer = 0;  ///< both moments, and the moving average if there is one
  uint64_t gradients = 0;
  uint64_t matrices = 0;     ///< of Muon, while it updates the largest matrix
  uint64_t packed = 0;       ///< copies of the weights for the products, about
  uint64_t activations = 0;  ///< what grows with the batch
  uint64_t scratch = 0;      ///< of a pass, whatever the batch
  uint64_t validation = 0;   ///< about: packed weights for decoding, keys and values
  uint64_t averaging = 0;    ///< of checkpoints at the end, when activations and scratch have been given back
  uint64_t other = 0;        ///< program, vocabulary, text, batches
  double activations_per_token = 0.0;
  int64_t batch_tokens = 0;
  int64_t accumulate = 1;
  int64_t search_tokens = 0;  ///< source tokens that a worker of a validation has in work

  /// All that is there from the first update to the last.
  uint64_t standing() const { return weights + optimizer + gradients + matrices + packed + other; }
  uint64_t peak() const { return standing() + std::max(busiest(), averaging); }
  /// True if the workers must give back the memory of their passes before validation translates.
  bool gives_back() const { return standing() + activations + scratch + validation > budget.bytes; }
  /// Each part by name, then "peak" and "budget".
  std::vector<std::pair<std::string, uint64_t>> parts() const;
  /// Some lines for a person.
  std::string report() const;

 private:
  uint64_t busiest() const {
    return gives_back() ? std::max(activations + scratch, validation) : activations + scratch + validation;
  }
};

/// The tensors that stand whatever the batch is. Throws Error(kUsage) when they alone exceed the budget, so that it can
/// be asked before they are allocated: "train: --memory 100 MiB is less than the run takes whatever its batches, 943
/// MiB (...)".
/// @param elements  of the flat buffer of weights;  @param scratch_elements  see Optimizer::scratch_elements
MemoryPlan plan_tensors(const TrainOptions& options, const MemoryBudget& budget, int64_t elements,
                        int64_t scratch_elements = 0);

/// Fills in what is known once the process stands: `other`, which is the process as it is now less the tensors of the
/// plan and with the batches to come, and the validation, in a search as small as the budget asks for.
void plan_process(const TrainOptions& options, const data::CorpusStatistics& corpus, MemoryPlan& plan);

/// How plan_batch finds out what fits.
struct BatchMeasuring {
  int64_t shards = 1;   ///< that a batch is split into: the workers of all processes
  MeasurePass measure;  ///< a pass of one worker
  /// The smallest number that any process gives; called once by each.
  std::function<int64_t(int64_t)> smallest = [](int64_t mine) { return mine; };
  int64_t longest_example = 0;  ///< tokens of a side that a batch is never cut within; 0: max_length
};

/// Fills in `plan` and `options.batch` by measuring passes. With options.batch.fit, batch_tokens becomes the largest
/// part of it that fits 95 % of the budget and accumulate rises by as much as it falls, so that an update keeps its
/// tokens. Without, batch_tokens must fit as it is. Throws Error(kUsage), naming budget and need: the budget does not
/// hold one sentence of max_length, or not one example that is longer, or not the batch.
/// @param plan  with everything that stands
void plan_batch(TrainOptions& options, MemoryPlan& plan, const BatchMeasuring& measuring);

/// The batch that --batch-tokens auto chose when a run was started, for resuming it: takes batch_tokens and accumulate
/// from its recipe. Throws Error(kUsage) unless they are `batch` cut into equal parts.
void adopt_fitted_batch(BatchOptions& batch, const std::string& recipe, const std::string& folder);

}  // namespace dragoman::training
