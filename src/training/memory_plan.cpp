#include "training/memory_plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/memory.h"
#include "decoding/search/options.h"

namespace dragoman::training {
namespace {

using base::format_size;

constexpr double kDefaultShare = 0.5;  // of the memory that is free: the rest is for others and for the file cache
constexpr double kAutoShare = 0.95;    // of the budget: the rest is for what no plan foresees
// Two windows of batches and the pairs of one of them, grown by doubling (data::Batcher).
constexpr uint64_t kBytesPerPair = 160, kBytesPerPairToken = 26;
constexpr int64_t kFewestSearchTokens = 64;
constexpr uint64_t kFloat = sizeof(float);
constexpr const char* kAdvice =
    "give more memory, or take --recompute layers with a Transformer, --average 0, fewer --workers or a smaller "
    "--max-length";

uint64_t times(double share, uint64_t bytes) {
  return static_cast<uint64_t>(share * static_cast<double>(bytes));
}

// Packed weights of the decoding copy; keys and values of the source tokens in work, and of their hypotheses at their
// longest, in a cache that doubles as it grows and is copied then (models::KeyValueCache).
uint64_t validation_bytes(const TrainOptions& options, const MemoryPlan& plan, double source_length) {
  const decoding::SearchOptions search;
  const double hypotheses =
      static_cast<double>(options.run.validation_beam) *
      (search.length.max_length_ratio + search.length.max_length_extra / std::max(source_length, 1.0));
  const double rows = static_cast<double>(options.run.workers * plan.search_tokens) * (1.0 + 2.5 * hypotheses);
  const auto row = static_cast<uint64_t>(options.model.sizes().state_floats) * kFloat;
  return plan.weights + times(rows, row);
}

// Sums in double precision, the weights set aside, a file and its tensors; with a moving average, the file of the
// optimizer and its tensors besides.
uint64_t averaging_bytes(const RunOptions& run, uint64_t weights) {
  return run.average > 1 ? (run.ema_decay > 0.0 ? 10 : 5) * weights : 0;
}

// "weights 240 MiB, optimizer 480 MiB, ..."; parts of nothing are left out.
std::string listed(const MemoryPlan& plan) {
  std::string text;
  for (const auto& [name, bytes] : plan.parts()) {
    if (bytes > 0 && name != "peak" && name != "budget") {
      text += (text.empty() ? "" : ", ") + name + " " + format_size(bytes);
    }
  }
  return text;
}

uint64_t room_for_each(const MemoryPlan& plan, double share, int workers) {
  const uint64_t budget = times(share, plan.budget.bytes);
  return (budget - std::min(budget, plan.standing())) / static_cast<uint64_t>(workers);
}

void set_passes(MemoryPlan& plan, const PassMemory& line, int64_t tokens, int workers) {
  plan.activations_per_token = line.per_token;
  plan.activations = static_cast<uint64_t>(workers) * times(line.per_token, static_cast<uint64_t>(tokens));
  plan.scratch = static_cast<uint64_t>(static_cast<double>(workers) * line.fixed);
}

// What is needed even with the smallest batch.
void check_standing(const MemoryPlan& plan) {
  base::check_usage(plan.peak() <= plan.budget.bytes,
                    "train: {} is less than the run takes whatever its batches, {} ({}); {}", plan.budget.name,
                    format_size(plan.peak()), listed(plan), kAdvice);
}

// The same tokens in an update, in more and smaller batches.
void cut(BatchOptions& batch, int64_t parts) {
  batch.batch_tokens = std::max((batch.batch_tokens + parts - 1) / parts, batch.max_length);
  batch.accumulate *= parts;
}

}  // namespace

MemoryBudget memory_budget(const RunOptions& options, int local_processes) {
  if (options.memory > 0) {
    return {options.memory, true, "--memory " + format_size(options.memory)};
  }
  const std::optional<uint64_t> available = base::available_memory();
  base::check_usage(available.has_value(),
                    "train: this system does not say how much memory is free; say with --memory how much to take");
  const uint64_t bytes = times(kDefaultShare / local_processes, *available + base::resident_memory());
  return {bytes, false, "a fair share of the free memory (--memory), " + format_size(bytes) + ","};
}

std::vector<std::pair<std::string, uint64_t>> MemoryPlan::parts() const {
  std::vector<std::pair<std::string, uint64_t>> parts = {
      {"weights", weights},         {"optimizer", optimizer}, {"gradients", gradients},   {"packed weights", packed},
      {"activations", activations}, {"scratch", scratch},     {"validation", validation}, {"averaging", averaging},
      {"text and program", other},  {"peak", peak()},         {"budget", budget.bytes}};
  if (matrices > 0) {
    parts.insert(parts.begin() + 3, {"matrices", matrices});
  }
  return parts;
}

std::string MemoryPlan::report() const {
  return fmt::format(
      "memory: {} planned of {} ({})\n  {}\n  activations grow by {} per 1,000 tokens\n"
      "batch: {} tokens x {} an update",
      format_size(peak()), format_size(budget.bytes), budget.asked ? "--memory" : "a fair share of what is free",
      listed(*this), format_size(static_cast<uint64_t>(1000.0 * activations_per_token)), batch_tokens, accumulate);
}

MemoryPlan plan_tensors(const TrainOptions& options, const MemoryBudget& budget, int64_t elements,
                        int64_t scratch_elements) {
  MemoryPlan plan;
  plan.budget = budget;
  plan.weights = static_cast<uint64_t>(elements) * kFloat;
  plan.optimizer = (options.run.ema_decay > 0.0 ? 3 : 2) * plan.weights;
  plan.gradients = static_cast<uint64_t>(options.run.workers) * plan.weights;
  plan.matrices = static_cast<uint64_t>(options.run.workers) * static_cast<uint64_t>(scratch_elements) * kFloat;
  const bool half = options.precision == kernels::Precision::kBFloat16;
  plan.packed = (half ? 1 : 2) * plan.weights;  // for the forward and for the backward
  plan.averaging = averaging_bytes(options.run, plan.weights);
  check_standing(plan);
  return plan;
}

void plan_process(const TrainOptions& options, const data::CorpusStatistics& corpus, MemoryPlan& plan) {
  const uint64_t resident = base::resident_memory(), tensors = plan.weights + plan.optimizer + plan.gradients;
  const uint64_t pairs = std::min<uint64_t>(static_cast<uint64_t>(options.batch.window_sentences), corpus.kept);
  const uint64_t kept = std::max<uint64_t>(corpus.kept, 1);
  const uint64_t tokens = (corpus.source_tokens + corpus.target_tokens) / kept;
  plan.other = resident - std::min(resident, tensors) + pairs * (kBytesPerPair + kBytesPerPairToken * tokens);
  plan.search_tokens = decoding::ExecutionOptions().batch_tokens;
  if (options.valid_source.empty()) {
    return;
  }
  const double source_length = static_cast<double>(corpus.source_tokens) / static_cast<double>(kept);
  plan.validation = validation_bytes(options, plan, source_length);
  while (plan.standing() + plan.validation > times(kAutoShare, plan.budget.bytes) &&
         plan.search_tokens > kFewestSearchTokens) {
    plan.search_tokens /= 2;
    plan.validation = validation_bytes(options, plan, source_length);
  }
}

void plan_batch(TrainOptions& options, MemoryPlan& plan, const BatchMeasuring& measuring) {
  check_standing(plan);
  BatchOptions& batch = options.batch;
  const int workers = options.run.workers;
  const BatchSpread spread{measuring.shards, std::max(measuring.longest_example, batch.max_length)};
  const uint64_t room = room_for_each(plan, batch.fit ? kAutoShare : 1.0, workers);
  FittedBatch fitted = fit_batch(measuring.measure, spread, batch.batch_tokens, room);
  if (fitted.batch_tokens == 0) {
    set_passes(plan, fitted.line, spread.max_length, workers);
    const std::string example = spread.max_length == batch.max_length
                                    ? fmt::format("sentence of --max-length {}", batch.max_length)
                                    : fmt::format("group of {} tokens, which --group-pairs makes", spread.max_length);
    base::fail(base::ErrorKind::kUsage, "train: {} does not hold one {}: {} are needed ({}); {}", plan.budget.name,
               example, format_size(plan.peak()), listed(plan), kAdvice);
  }
  fitted.batch_tokens = measuring.smallest(fitted.batch_tokens);
  const auto worker_part = [&] { return worker_tokens(std::max(batch.batch_tokens, spread.max_length), spread); };
  set_passes(plan, fitted.line, worker_part(), workers);
  if (fitted.batch_tokens < batch.batch_tokens) {
    base::check_usage(batch.fit,
                      "train: --batch-tokens {} needs {}, more than {} holds; {} tokens fit: take --batch-tokens auto, "
                      "which keeps the tokens of an update, or {}",
                      batch.batch_tokens, format_size(plan.peak()), plan.budget.name, fitted.batch_tokens, kAdvice);
    cut(batch, (batch.batch_tokens + fitted.batch_tokens - 1) / fitted.batch_tokens);
    set_passes(plan, fitted.line, worker_part(), workers);
  }
  plan.batch_tokens = batch.batch_tokens;
  plan.accumulate = batch.accumulate;
}

void adopt_fitted_batch(BatchOptions& batch, const std::string& recipe, const std::string& folder) {
  const nlohmann::json saved = nlohmann::json::parse(recipe, nullptr, false);
  const int64_t tokens = saved.is_object() ? saved.value("batch_tokens", int64_t{0}) : 0;
  const int64_t accumulate = saved.is_object() ? saved.value("accumulate", int64_t{0}) : 0;
  BatchOptions chosen = batch;
  cut(chosen, std::max<int64_t>(accumulate / batch.accumulate, 1));
  base::check_usage(chosen.batch_tokens == tokens && chosen.accumulate == accumulate,
                    "{}: the run in this folder has batches of {} tokens x {} an update, --batch-tokens auto would cut "
                    "{} x {}; use the same options to go on, or another --model folder to start anew",
                    folder, tokens, accumulate, batch.batch_tokens, batch.accumulate);
  batch = chosen;
}

}  // namespace dragoman::training
