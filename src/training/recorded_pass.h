#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "data/batch.h"
#include "models/model.h"
#include "training/objective.h"

namespace dragoman::training {

/// What the passes of one update share.
struct UpdateContext {
  uint64_t seed = 0;
  int64_t step = 0;
  int64_t update_tokens = 1;  ///< target tokens of the whole update: the loss is divided by them
  nn::Recompute recompute = nn::Recompute::kNone;
  nn::BatchStatistics* statistics = nullptr;  ///< of the replica, if the model has batch norms
  bool records = false;                       ///< whether the pass may be one that was recorded (RecordedPass)
};

/// The kernels of a forward and backward, recorded where one form of shards comes again and a backend can record
/// (kernels::Backend::record): the windows of a language model do. The second shard of a form in a row is recorded, in
/// separate memory. Later shards run the recording with new ids and new dropout masks. One form is kept. A recording
/// gives the bits of the pass that it repeats.
class RecordedPass {
 public:
  /// Passes that take more memory are not recorded: their kernels are longer than the time to queue them, and the
  /// memory would be needed twice while one is recorded.
  static constexpr uint64_t kMostBytes = uint64_t{2} << 30;

  /// Computes loss and gradients of a pass, or of a shard as it is if the pass is null.
  using Compute = std::function<Pass(const RepeatedPass* pass, const uint32_t* step_on_device)>;

  /// Returns: what `compute` returns. What is pending in it is overwritten by the next call.
  /// Requires: no gradient is there yet. The current allocator is not the host's.
  Pass run(const Objective& objective, nn::ParameterSet& parameters, const data::Batch& shard,
           const UpdateContext& update, const Compute& compute);

  int64_t replayed() const { return replayed_; }

 private:
  // A form of shards, with the pass over them.
  struct Form {
    data::Batch shard;
    UpdateContext update;
    std::unique_ptr<RepeatedPass> pass;  // null: it cannot be recorded
    tensor::Tensor step = {};            // [1] int32, in the memory of the device
    std::shared_ptr<tensor::Allocator> memory = nullptr;
    std::function<void()> replay = {};
    Pass result = {};
    std::vector<autograd::Variable> written = {};  // parameters with gradients

    bool serves(const data::Batch& other, const UpdateContext& context) const;
  };

  void record(nn::ParameterSet& parameters, const Compute& compute);

  std::unique_ptr<Form> seen_;  // the last one, if it was not recorded
  std::unique_ptr<Form> recorded_;
  int64_t replayed_ = 0;
};

}  // namespace dragoman::training
