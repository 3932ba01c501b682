#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "distributed/process_group.h"
#include "training/train_options.h"

namespace dragoman::training {

/// Something that must be the same on all ranks.
struct SharedFact {
  std::string name;                                ///< "training text"
  std::string value;                               ///< for people too
  base::ErrorKind kind = base::ErrorKind::kUsage;  ///< of the error when it is not
};

/// Version, recipe, how the run is steered, replicas, instruction set, training and validation text of this process.
/// @param fingerprint, validation_fingerprint  of Task
std::vector<SharedFact> facts_to_share(const TrainOptions& options, const std::string& fingerprint,
                                       const std::string& validation_fingerprint);

/// Ends the run before anything is written or trained when ranks disagree. The first fact that differs is named with
/// the ranks and both values: "ranks disagree about the training text: rank 0 (node-a, process 17) has 29000 pairs,
/// SHA-256 5b1c..., rank 2 (node-b, process 4711) has ...". All ranks throw the same Error.
void check_same_facts(distributed::ProcessGroup& processes, const std::vector<SharedFact>& facts);

/// Compares a hash of the weights over all ranks, which must have the same bits after every update. Throws
/// Error(kRuntime) naming the ranks that differ from the majority (from rank 0 when there is none): "the weights of
/// rank 1 (node-b, process 4711) differ from those of the other ranks at step 300 (hash 5b1c..., theirs 77e0...); ...".
void check_same_weights(distributed::ProcessGroup& processes, std::span<const float> weights, int64_t step);

}  // namespace dragoman::training
