#include "training/data_parallel.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "ops/vector_math.h"

namespace dragoman::training {

/// One thread's share: created, used and destroyed with its own arena.
struct DataParallel::Worker {
  std::shared_ptr<tensor::Arena> arena;
  std::unique_ptr<distributed::Communicator> communicator;
  std::unique_ptr<Replica> replica;
  std::unique_ptr<GradientBuckets> gradients;
  LossSums sums;
  UpdateTimes times;
};

void UpdateTimes::add(const UpdateTimes& other, double weight) {
  passes += weight * other.passes;
  gradients += weight * other.gradients;
  optimizer += weight * other.optimizer;
}

namespace {

// Seconds since the last call, or since construction.
class Lap {
 public:
  double operator()() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

std::vector<std::unique_ptr<distributed::Communicator>> make_communicators(int workers) {
  std::vector<std::unique_ptr<distributed::Communicator>> communicators;
  if (workers == 1) {
    communicators.push_back(std::make_unique<distributed::SingleCommunicator>());
    return communicators;
  }
  for (auto& communicator : distributed::ThreadCommunicator::make_group(workers)) {
    communicators.push_back(std::move(communicator));
  }
  return communicators;
}

// The shards of all batches of one update; rows are numbered through the whole update.
std::vector<std::vector<data::Batch>> shard_update(std::span<const data::Batch> batches, int workers) {
  std::vector<std::vector<data::Batch>> shards(static_cast<size_t>(workers));
  int64_t source_rows = 0, target_rows = 0;
  for (const data::Batch& batch : batches) {
    std::vector<data::Batch> parts = data::split(batch, workers);
    for (size_t rank = 0; rank < parts.size(); ++rank) {
      parts[rank].first_source_row += source_rows;
      parts[rank].first_target_row += target_rows;
      shards[rank].push_back(std::move(parts[rank]));
    }
    source_rows += batch.source_tokens();
    target_rows += batch.target_tokens();
  }
  return shards;
}

int64_t count_target_tokens(std::span<const data::Batch> batches) {
  int64_t tokens = 0;
  for (const data::Batch& batch : batches) {
    tokens += batch.target_tokens();
  }
  return tokens;
}

}  // namespace

DataParallel::DataParallel(models::Transformer& model, const LossOptions& loss, const AdamOptions& adam, int workers)
    : model_(model),
      loss_(loss),
      clip_norm_(adam.clip_norm),
      adam_(adam, model.parameters().values().size()),
      pool_(workers) {
  auto communicators = make_communicators(workers);
  for (auto& communicator : communicators) {
    auto worker = std::make_unique<Worker>();
    worker->arena = std::make_shared<tensor::Arena>();
    worker->communicator = std::move(communicator);
    workers_.push_back(std::move(worker));
  }
  pool_.run([&](int rank) {
    Worker& worker = *workers_[static_cast<size_t>(rank)];
    const tensor::ArenaScope memory(worker.arena);
    worker.replica = std::make_unique<Replica>(model_);
    worker.gradients = std::make_unique<GradientBuckets>(worker.replica->parameters(), *worker.communicator);
  });
}

DataParallel::~DataParallel() = default;

UpdateResult DataParallel::update(std::span<const data::Batch> batches, int64_t step, double learning_rate,
                                  uint64_t seed) {
  const auto shards = shard_update(batches, workers());
  const UpdateKey key{
      seed, step, loss_.label_smoothing, loss_.rdrop, std::max<int64_t>(count_target_tokens(batches), 1), recompute_};
  UpdateResult result;
  pool_.run([&](int rank) {
    Worker& worker = *workers_[static_cast<size_t>(rank)];
    const tensor::ArenaScope memory(worker.arena);
    Lap lap;
    try {
      run_passes(worker, shards[static_cast<size_t>(rank)], key);
      worker.times.passes = lap();
      worker.gradients->finish_update();
      const double norm = gradient_norm(worker);
      worker.times.gradients = lap();
      const bool applied = std::isfinite(norm);
      if (applied) {
        const double clip = clip_norm_ > 0.0 && norm > clip_norm_ ? clip_norm_ / norm : 1.0;
        apply(worker, {learning_rate, clip, applied_updates_ + 1});
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
  applied_updates_ += result.applied ? 1 : 0;
  for (const auto& worker : workers_) {
    result.sums += worker->sums;
  }
  return result;
}

// Forward and backward of all shards of a worker. During the last backward finished buckets of gradients set out.
void DataParallel::run_passes(Worker& worker, std::span<const data::Batch> shards, const UpdateKey& key) {
  worker.gradients->begin_update();
  worker.sums = {};
  for (const data::Batch& shard : shards) {
    const bool last = &shard == &shards.back();
    const auto on_final = [&](const autograd::Variable& parameter) { worker.gradients->parameter_final(parameter); };
    worker.sums += worker.replica->forward_backward(shard, key, last ? on_final : autograd::Tape::FinalHook());
  }
}

// Global norm of the summed gradients.
double DataParallel::gradient_norm(Worker& worker) {
  const std::span<const float> gradients = worker.replica->parameters().gradients().span<float>();
  double sum = 0.0;
  for (const auto [begin, end] : worker.gradients->shares()) {
    sum += ops::sum_of_squares(gradients.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
  }
  worker.communicator->all_reduce_sum(std::span<double>(&sum, 1));
  return std::sqrt(sum);
}

void DataParallel::apply(Worker& worker, const AdamStep& step) {
  nn::ParameterSet& parameters = worker.replica->parameters();
  for (const distributed::Part part : worker.gradients->shares()) {
    adam_.update(parameters.values().span<float>(), parameters.gradients().span<float>(), part, step);
  }
}

tensor::ArenaCounters DataParallel::measure_pass(const data::Batch& batch) {
  const auto arena = std::make_shared<tensor::Arena>();
  const tensor::ArenaScope memory(arena);
  Replica& replica = *workers_.front()->replica;
  replica.parameters().clear_gradients();
  replica.forward_backward(batch, {0, 0, loss_.label_smoothing, loss_.rdrop, batch.target_tokens(), recompute_}, {});
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
  pool_.run([&](int rank) {
    Worker& worker = *workers_[static_cast<size_t>(rank)];
    const tensor::ArenaScope memory(worker.arena);
    worker.sums = {};
    for (size_t index = static_cast<size_t>(rank); index < batches.size(); index += workers_.size()) {
      worker.sums += worker.replica->evaluate(batches[index], loss_.label_smoothing);
    }
  });
  LossSums sums;
  for (const auto& worker : workers_) {
    sums += worker->sums;
  }
  return sums;
}

tensor::ArenaCounters DataParallel::arena_counters(int rank) const {
  return workers_[static_cast<size_t>(rank)]->arena->counters();
}

}  // namespace dragoman::training
