#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/worker_pool.h"
#include "data/batch.h"
#include "distributed/process_group.h"
#include "training/gradient_buckets.h"
#include "training/optimizer.h"
#include "training/replica.h"

namespace dragoman::training {

/// How a process computes.
struct ProcessOptions {
  int workers = 1;                                              ///< threads of this process
  kernels::Precision precision = kernels::Precision::kFloat32;  ///< of products with weights and of their gradients
  bool records = true;  ///< whether passes of one form after another run as they were recorded, on a GPU that is alone
};

/// Where the first worker spent an update, in seconds.
struct UpdateTimes {
  double data = 0.0;       ///< making the batch; known to who makes it
  double packing = 0.0;    ///< copies of the weights for the products
  double forward = 0.0;    ///< up to the loss and its gradient with respect to the last layer
  double backward = 0.0;   ///< and the gradient sums that overlap it
  double gradients = 0.0;  ///< what is left after it: waiting for the other workers, the last sums, the norm
  double optimizer = 0.0;
  /// While sums between processes were under way. Of these, no more than `gradients` was waited for: the rest
  /// overlapped the backward.
  double between_processes = 0.0;

  double total() const { return data + packing + forward + backward + gradients + optimizer; }
  void add(const UpdateTimes& other, double weight);
};

/// What one update did.
struct UpdateResult {
  LossSums sums;
  UpdateTimes times;
  double gradient_norm = 0.0;  ///< global L2 norm before clipping
  bool applied = true;         ///< false: a gradient was not finite, the weights were left as they were
};

/// Trains one set of weights with several replicas, one thread and one arena each, in one process or in several with
/// the same number of threads. Every batch is split by sentences into as many shards, gradients are summed in the order
/// of the replicas, most of them during the backward, and each thread applies the optimizer to its own part of the
/// weights. The same update on any number of replicas agrees to rounding; on the same number of processes and threads,
/// bit for bit.
class DataParallel {
 public:
  /// @param model  whose weights are trained; every process has its own, with the same bits; must outlive this
  /// @param processes  must outlive this
  DataParallel(models::Model& model, std::unique_ptr<const Objective> objective, const AdamOptions& adam,
               distributed::ProcessGroup& processes, const ProcessOptions& options);
  ~DataParallel();
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  /// One update from `batches` (more than one: accumulated). Every process gives its shards of the same batches, one
  /// for each worker, and gets the same result, times aside.
  /// @param step  of the update, from 1: keys the dropout masks
  UpdateResult update(std::vector<data::BatchShare> batches, int64_t step, double learning_rate, uint64_t seed);
  /// The same from whole batches.
  UpdateResult update(std::span<const data::Batch> batches, int64_t step, double learning_rate, uint64_t seed);

  /// What forward and backward of one worker take: runs them on `batch` in an arena of their own, which goes away, and
  /// changes nothing that an update sees.
  tensor::ArenaCounters measure_pass(const data::Batch& batch);
  /// Makes sure that every worker's arena can hand out `bytes` without asking the system.
  void reserve(uint64_t bytes);
  /// Returns to the system what the workers' arenas hold and do not use.
  void give_back_memory();

  /// Sum of the losses over batches, without dropout and gradients; the workers share the batches.
  LossSums evaluate(std::span<const data::Batch> batches);

  int workers() const { return pool_.size(); }
  /// Of all processes; those of this one are numbered from first_replica().
  int replicas() const { return processes_.size() * workers(); }
  int first_replica() const { return processes_.rank() * workers(); }
  Optimizer& optimizer() { return optimizer_; }
  /// The moments [size] float32 of all elements. If processes own parts of them, copies in host memory. All processes
  /// call it.
  struct Moments {
    tensor::Tensor first, second;
  };
  Moments moments();
  /// After a change of what moments() gave.
  void set_moments(const Moments& moments);
  /// What updates compute again instead of keeping it; may be changed at any time.
  void set_recompute(nn::Recompute recompute) { recompute_ = recompute; }
  /// Updates applied so far; Adam's bias correction counts these. Part of a checkpoint.
  int64_t applied_updates() const { return applied_updates_; }
  void set_applied_updates(int64_t updates) { applied_updates_ = updates; }
  /// Tests read it to show that warm steps ask the system for nothing.
  tensor::ArenaCounters arena_counters(int rank) const;
  /// The same for passes that ran as they were recorded.
  int64_t replayed_passes() const;

 private:
  struct Worker;
  // True if nothing of an update waits for the device but the reading of its numbers at its end.
  bool queues_updates() const;
  void run_passes(Worker& worker, std::span<const data::Batch> shards, UpdateContext context) const;
  void finish_queued(Worker& worker, double learning_rate, UpdateResult& result);
  static void read_sums(Worker& worker, const tensor::Tensor& factors, UpdateResult& result);
  tensor::Tensor whole_moment(const tensor::Tensor& own);
  double gradient_norm(Worker& worker);
  void apply(Worker& worker, const kernels::AdamScalars& scalars);
  void update_matrices(double learning_rate);
  void move_running_statistics();
  LossSums sum_over_all() const;
  void pack_weights();

  models::Model& model_;
  distributed::ProcessGroup& processes_;
  std::unique_ptr<const Objective> objective_;
  double clip_norm_;
  kernels::Precision precision_;
  bool records_;
  std::unique_ptr<kernels::DeviceMessages> messages_;  // between processes; null from the end of the constructor on
  std::vector<distributed::Part> owned_;               // of the weights, if processes share the updates; else empty
  Optimizer optimizer_;
  base::WorkerPool pool_;
  std::vector<std::unique_ptr<Worker>> workers_;
  nn::Recompute recompute_ = nn::Recompute::kNone;
  int64_t applied_updates_ = 0;
};

}  // namespace dragoman::training
