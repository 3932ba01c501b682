#include "training/data_parallel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "base/error.h"
#include "base/lap.h"
#include "distributed/thread_communicator.h"
#include "kernels/backends/backend_of.h"
#include "tensor/transfer.h"
#include "training/replica_statistics.h"

namespace dragoman::training {

// One thread's share: created, used and destroyed with its own arena.
struct DataParallel::Worker {
  std::shared_ptr<tensor::Allocator> arena;
  std::unique_ptr<distributed::Communicator> communicator;
  std::unique_ptr<Replica> replica;
  std::unique_ptr<GradientBuckets> gradients;
  std::unique_ptr<ReplicaStatistics> statistics;  // null unless the model has batch norms
  LossSums sums;
  std::vector<PendingSums> pending;  // further sums of the last passes
  UpdateTimes times;
};

void UpdateTimes::add(const UpdateTimes& other, double weight) {
  data += weight * other.data;
  packing += weight * other.packing;
  forward += weight * other.forward;
  backward += weight * other.backward;
  gradients += weight * other.gradients;
  between_processes += weight * other.between_processes;
  optimizer += weight * other.optimizer;
}

namespace {

// The shards of all batches of one update, by worker; rows are numbered through the whole update.
std::vector<std::vector<data::Batch>> shards_of_workers(std::vector<data::BatchShare> batches, size_t workers) {
  std::vector<std::vector<data::Batch>> shards(workers);
  int64_t source_rows = 0, target_rows = 0;
  for (data::BatchShare& batch : batches) {
    base::check_argument(batch.shards.size() == workers, "update: a batch of {} shards for {} workers",
                         batch.shards.size(), workers);
    for (size_t worker = 0; worker < workers; ++worker) {
      batch.shards[worker].first_source_row += source_rows;
      batch.shards[worker].first_target_row += target_rows;
      shards[worker].push_back(std::move(batch.shards[worker]));
    }
    source_rows += batch.source_tokens;
    target_rows += batch.target_tokens;
  }
  return shards;
}

int64_t bucket_elements(const tensor::Tensor& weights) {
  return weights.device().is_host() ? GradientBuckets::kBucketElements : GradientBuckets::kDeviceBucketElements;
}

// Between processes with one GPU each; null for others.
std::unique_ptr<kernels::DeviceMessages> connect_devices(distributed::ProcessGroup& processes,
                                                         const tensor::Tensor& weights, int workers) {
  if (weights.device().is_host() || workers > 1) {
    return nullptr;
  }
  return distributed::connect_devices(processes, kernels::backend_of(weights));
}

// Muon needs whole matrices, so each process updates all of them.
std::vector<distributed::Part> owned_parts(const kernels::DeviceMessages* messages,
                                           const distributed::ProcessGroup& processes, const AdamOptions& adam,
                                           const nn::ParameterSet& parameters) {
  if (messages == nullptr || adam.optimizer == OptimizerKind::kMuon) {
    return {};
  }
  return GradientBuckets::parts_of(parameters.flat_size(), processes.rank(), processes.size());
}

int64_t count_target_tokens(std::span<const data::BatchShare> batches) {
  int64_t tokens = 0;
  for (const data::BatchShare& batch : batches) {
    tokens += batch.target_tokens;
  }
  return tokens;
}

}  // namespace

DataParallel::DataParallel(models::Model& model, std::unique_ptr<const Objective> objective, const AdamOptions& adam,
                           distributed::ProcessGroup& processes, const ProcessOptions& options)
    : model_(model),
      processes_(processes),
      objective_(std::move(objective)),
      clip_norm_(adam.clip_norm),
      precision_(options.precision),
      records_(options.records),
      messages_(connect_devices(processes, model.parameters().values(), options.workers)),
      owned_(owned_parts(messages_.get(), processes, adam, model.parameters())),
      optimizer_(adam, model.parameters(), options.workers, owned_),
      pool_(options.workers) {
  for (auto& communicator : distributed::ThreadCommunicator::make_group(workers(), &processes)) {
    auto worker = std::make_unique<Worker>();
    worker->arena = tensor::Arena::current()->another();
    worker->communicator = std::move(communicator);
    if (model.has_batch_norms()) {
      worker->statistics = std::make_unique<ReplicaStatistics>(*worker->communicator, processes);
    }
    workers_.push_back(std::move(worker));
  }
  pool_.run([&](int rank) {
    Worker& worker = *workers_[static_cast<size_t>(rank)];
    const tensor::ArenaScope memory(worker.arena);
    worker.replica = std::make_unique<Replica>(model_, *objective_);
    worker.gradients = std::make_unique<GradientBuckets>(worker.replica->parameters(), *worker.communicator,
                                                         bucket_elements(model_.parameters().values()));
  });
  if (messages_ != nullptr) {
    const tensor::ArenaScope memory(workers_.front()->arena);
    workers_.front()->gradients->join(std::move(messages_), processes, owned_.empty() ? Sharing::kAll : Sharing::kOwn);
  }
  nn::ParameterSet& first = workers_.front()->replica->parameters();
  first.allocate_packing(options.precision);
  for (const auto& worker : workers_) {
    worker->replica->parameters().share_packing(first);
  }
}

DataParallel::~DataParallel() = default;

UpdateResult DataParallel::update(std::span<const data::Batch> batches, int64_t step, double learning_rate,
                                  uint64_t seed) {
  std::vector<data::BatchShare> shares;
  for (const data::Batch& batch : batches) {
    data::BatchShare& share = shares.emplace_back(data::split(batch, replicas()));
    const auto first = share.shards.begin() + first_replica();
    share.shards = {std::make_move_iterator(first), std::make_move_iterator(first + workers())};
  }
  return update(std::move(shares), step, learning_rate, seed);
}

UpdateResult DataParallel::update(std::vector<data::BatchShare> batches, int64_t step, double learning_rate,
                                  uint64_t seed) {
  base::Lap packing;
  pack_weights();
  const double packing_seconds = packing();
  const UpdateContext context{seed, step, std::max<int64_t>(count_target_tokens(batches), 1), recompute_};
  const auto shards = shards_of_workers(std::move(batches), workers_.size());
  UpdateResult result;
  pool_.run([&](int rank) {
    Worker& worker = *workers_[static_cast<size_t>(rank)];
    const tensor::ArenaScope memory(worker.arena);
    try {
      run_passes(worker, shards[static_cast<size_t>(rank)], context);
      if (queues_updates()) {
        return finish_queued(worker, learning_rate, result);
      }
      base::Lap lap;
      worker.gradients->finish_update();
      const double norm = gradient_norm(worker);
      worker.times.gradients = lap();
      const bool applied = std::isfinite(norm);
      if (applied) {
        const double clip = clip_norm_ > 0.0 && norm > clip_norm_ ? clip_norm_ / norm : 1.0;
        apply(worker, optimizer_.scalars(learning_rate, clip, applied_updates_ + 1));
      }
      worker.times.optimizer = lap();
      if (rank == 0) {
        result.times = worker.times;
        result.gradient_norm = norm;
        result.applied = applied;
      }
    } catch (...) {
      worker.communicator->abandon();
      throw;
    }
  });
  if (result.applied && optimizer_.has_matrices()) {
    base::Lap lap;
    update_matrices(learning_rate);
    result.times.optimizer += lap();
  }
  if (result.applied) {
    move_running_statistics();
  }
  applied_updates_ += result.applied ? 1 : 0;
  result.sums = sum_over_all();
  result.times.packing = packing_seconds;
  result.times.between_processes = processes_.take_sum_seconds();
  return result;
}

bool DataParallel::queues_updates() const {
  return replicas() == 1 && !model_.parameters().values().device().is_host();
}

// Queues the rest of an update of the only replica: nothing waits until all numbers are read at once. Muon's matrices
// need the factor on the host before.
void DataParallel::finish_queued(Worker& worker, double learning_rate, UpdateResult& result) {
  base::Lap lap;
  nn::ParameterSet& parameters = worker.replica->parameters();
  parameters.complete_gradients();
  tensor::Tensor factors = tensor::Tensor::empty({2}, tensor::DType::kFloat64);
  kernels::backend_of(parameters.gradients()).clip_factors(parameters.gradients(), clip_norm_, factors);
  kernels::AdamScalars scalars = optimizer_.scalars(learning_rate, 1.0, applied_updates_ + 1);
  const distributed::Part all{0, parameters.gradients().size()};
  scalars.clipping = &factors;
  if (optimizer_.has_matrices()) {
    scalars.gradient_scale = factors.to_vector<double>().front();
    scalars.clipping = nullptr;
  }
  if (!std::isnan(scalars.gradient_scale)) {
    optimizer_.update(parameters.mutable_values(), parameters.gradients(), all, scalars);
  }
  worker.times.optimizer = lap();
  read_sums(worker, factors, result);
  worker.times.gradients = lap();  // most of it is the wait for all that was queued
  result.times = worker.times;
}

// Reads all that is pending, with one wait.
void DataParallel::read_sums(Worker& worker, const tensor::Tensor& factors, UpdateResult& result) {
  std::vector<tensor::Tensor> tensors{factors};
  for (const PendingSums& pending : worker.pending) {
    tensors.push_back(pending.numbers);
  }
  const std::vector<double> numbers = tensor::numbers_of(tensors);
  result.gradient_norm = numbers[1];
  result.applied = std::isfinite(numbers[1]);
  auto next = static_cast<size_t>(factors.size());
  for (const PendingSums& pending : worker.pending) {
    const auto count = static_cast<size_t>(pending.numbers.size());
    worker.sums += pending.take(std::span(numbers).subspan(next, count));
    next += count;
  }
  worker.pending.clear();
}

LossSums DataParallel::sum_over_all() const {
  LossSums sums;
  for (const auto& worker : workers_) {
    sums += worker->sums;
  }
  if (processes_.size() == 1) {
    return sums;
  }
  std::array<double, 5> values{sums.loss, sums.nll, static_cast<double>(sums.tokens), static_cast<double>(sums.correct),
                               sums.kl};
  processes_.all_reduce_sum(values);
  return {values[0], values[1], static_cast<int64_t>(values[2]), static_cast<int64_t>(values[3]), values[4]};
}

// Forward and backward of all shards of a worker. During the last backward finished buckets of gradients set out.
void DataParallel::run_passes(Worker& worker, std::span<const data::Batch> shards, UpdateContext context) const {
  context.statistics = worker.statistics.get();
  worker.gradients->begin_update();
  worker.sums = {};
  worker.pending.clear();
  if (worker.statistics != nullptr) {
    worker.statistics->forget();  // of an update that was skipped
  }
  PassSeconds seconds;
  for (const data::Batch& shard : shards) {
    const bool last = &shard == &shards.back() && !queues_updates();
    context.records = records_ && queues_updates() && &shard == &shards.front();
    const auto on_final = [&](const autograd::Variable& parameter) { worker.gradients->parameter_final(parameter); };
    Replica::Sums sums =
        worker.replica->forward_backward(shard, context, seconds, last ? on_final : autograd::Tape::FinalHook());
    worker.sums += sums.known;
    if (sums.pending.numbers.defined() && queues_updates()) {
      worker.pending.push_back(std::move(sums.pending));
    } else {
      worker.sums += sums.pending.wait();
    }
  }
  worker.times.forward = seconds.forward;
  worker.times.backward = seconds.backward;
}

// Global norm of the summed gradients.
double DataParallel::gradient_norm(Worker& worker) {
  const tensor::Tensor& gradients = worker.replica->parameters().gradients();  // [size]
  const kernels::Backend& backend = kernels::backend_of(gradients);
  double sum = 0.0;
  for (const auto [begin, end] : worker.gradients->shares()) {
    sum += backend.sum_of_squares(gradients.rows(begin, end));
  }
  worker.communicator->all_reduce_sum(std::span<double>(&sum, 1));
  if (!owned_.empty()) {
    processes_.all_reduce_sum(std::span<double>(&sum, 1));
  }
  return std::sqrt(sum);
}

void DataParallel::apply(Worker& worker, const kernels::AdamScalars& scalars) {
  nn::ParameterSet& parameters = worker.replica->parameters();
  for (const distributed::Part part : worker.gradients->shares()) {
    optimizer_.update(parameters.mutable_values(), parameters.gradients(), part, scalars);
  }
  if (!owned_.empty()) {
    worker.gradients->hand_out(parameters.values());
  }
}

// What needs whole matrices, once all elements of the directions are there. Every process computes it by itself.
void DataParallel::update_matrices(double learning_rate) {
  const kernels::AdamScalars scalars = optimizer_.scalars(learning_rate, 1.0, applied_updates_ + 1);
  const tensor::Tensor weights = model_.parameters().mutable_values();
  pool_.run([&](int rank) {
    const tensor::ArenaScope memory(workers_[static_cast<size_t>(rank)]->arena);
    optimizer_.update_matrices(weights, rank, scalars, precision_);
  });
}

// Of batch norms; a skipped update moves them no more than weights.
void DataParallel::move_running_statistics() {
  if (ReplicaStatistics* statistics = workers_.front()->statistics.get(); statistics != nullptr) {
    model_.parameters().mutable_values();  // marks the values as changed
    statistics->move();
  }
}

// Whoever changed the values, the replicas multiply with copies of the present ones.
void DataParallel::pack_weights() {
  nn::WeightPacking* packing = workers_.front()->replica->parameters().packing();
  if (packing != nullptr && !packing->current()) {
    pool_.run([&](int rank) { packing->pack(rank, workers()); });
  }
}

tensor::ArenaCounters DataParallel::measure_pass(const data::Batch& batch) {
  pack_weights();
  const auto arena = workers_.front()->arena->another();
  const tensor::ArenaScope memory(arena);
  Replica& replica = *workers_.front()->replica;
  replica.parameters().clear_gradients();
  PassSeconds seconds;
  replica.forward_backward(batch, {0, 0, batch.target_tokens(), recompute_}, seconds);
  return arena->counters();
}

void DataParallel::reserve(uint64_t bytes) {
  for (const auto& worker : workers_) {
    worker->arena->reserve(bytes);
  }
}

void DataParallel::give_back_memory() {
  for (const auto& worker : workers_) {
    worker->arena->give_back();
  }
}

LossSums DataParallel::evaluate(std::span<const data::Batch> batches) {
  pack_weights();
  pool_.run([&](int rank) {
    Worker& worker = *workers_[static_cast<size_t>(rank)];
    const tensor::ArenaScope memory(worker.arena);
    worker.sums = {};
    for (auto index = static_cast<size_t>(first_replica() + rank); index < batches.size();
         index += static_cast<size_t>(replicas())) {
      worker.sums += worker.replica->evaluate(batches[index]);
    }
  });
  return sum_over_all();
}

int64_t DataParallel::replayed_passes() const {
  return workers_.front()->replica->replayed();
}

tensor::ArenaCounters DataParallel::arena_counters(int rank) const {
  return workers_[static_cast<size_t>(rank)]->arena->counters();
}

}  // namespace dragoman::training
