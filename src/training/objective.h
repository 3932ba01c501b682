#pragma once

#include <functional>
#include <memory>
#include <span>

#include "data/batch.h"
#include "models/model.h"
#include "training/loss_sums.h"
#include "training/train_options.h"

namespace dragoman::training {

/// Sums of a pass that are still on a device, which has not been waited for.
struct PendingSums {
  tensor::Tensor numbers;                                      ///< [n] float64; undefined if nothing is pending
  std::function<LossSums(std::span<const double>)> take = {};  ///< makes the sums of the numbers

  /// Waits for the numbers.
  LossSums wait() const { return numbers.defined() ? take(numbers.to_vector<double>()) : LossSums(); }
};

/// What a pass over a shard gives.
struct Pass {
  LossSums sums;          ///< for people: not scaled
  models::Variable loss;  ///< scalar, scaled: the backward begins here
  PendingSums pending{};  ///< further sums
};

/// A pass over one shard after another, of one form. Its tensors stay where they are.
class RepeatedPass {
 public:
  virtual ~RepeatedPass() = default;
  /// Takes the ids of another shard. Requires: data::have_one_form(it, the shard before).
  virtual void refill(const data::Batch& shard) = 0;
  /// Returns: what Objective::train returns.
  virtual Pass run(const models::Model& model, const nn::ForwardContext& context, double scale) const = 0;
};

/// What training makes small: the loss of a model over a batch. Every replica has the same objective.
/// Threads: any number.
class Objective {
 public:
  virtual ~Objective() = default;
  /// Returns the loss of one shard, recorded on the active tape.
  /// @param scale  1 / target tokens of the whole update: the loss of an update is the mean over its tokens
  /// Requires: the shard is not empty.
  virtual Pass train(const models::Model& model, const data::Batch& shard, const nn::ForwardContext& context,
                     double scale) const = 0;
  /// Returns: passes that read this shard first; null if this objective has none.
  virtual std::unique_ptr<RepeatedPass> repeated(const data::Batch& /*shard*/) const { return nullptr; }
  /// Returns the sums without dropout. Requires: nothing is recorded (autograd::NoGrad).
  virtual LossSums evaluate(const models::Model& model, const data::Batch& batch) const = 0;
};

/// Cross-entropy of the target words with label smoothing (Vaswani et al. 2017, section 5.4). With
/// ObjectiveOptions::rdrop or simcut each shard goes through the model twice under different dropout masks
/// (ops::two_pass_cross_entropy). The sums stay comparable with those of one pass.
std::unique_ptr<Objective> next_word_objective(const ObjectiveOptions& options);

}  // namespace dragoman::training
