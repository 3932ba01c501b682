#include "training/trainer.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/lap.h"
#include "tensor/transfer.h"
#include "training/rank_agreement.h"

namespace dragoman::training {
namespace {

constexpr int64_t kMaxSkippedInARow = 20;

}  // namespace

StopReason Trainer::run() {
  const base::StopSignals signals;
  clock_.start(options_.run.clock, options_.run.workers);
  std::optional<StopReason> reason = should_stop(signals);
  while (!reason) {
    one_update();
    const bool validation_due = state_.step % options_.run.validate_every == 0;
    if (state_.step % options_.run.log_every == 0) {
      log_window();
    }
    reason = should_stop(signals);
    if (validation_due || reason || state_.step % options_.run.check_ranks_every == 0) {
      check_same_weights(processes_, tensor::HostView<float>(model_->parameters().values()), state_.step);
    }
    if (validation_due) {
      validate();
      reason = reason ? reason : should_stop(signals);
    }
    if (validation_due || reason) {
      save();
    }
  }
  finish(*reason);
  return *reason;
}

void Trainer::one_update() {
  base::Lap reading;
  std::vector<data::BatchShare> batches;
  for (int64_t part = 0; part < options_.batch.accumulate; ++part) {
    batches.push_back(batcher_->next());
  }
  progress_->note_reading(reading());
  const int64_t step = state_.step + 1;
  const double rate = learning_rate(options_.schedule, step, clock_.agreed_seconds());
  const UpdateResult result = replicas_->update(std::move(batches), step, rate, options_.run.seed);
  progress_->note(result, rate);
  count_update(result);
  if (result.applied) {
    average_->update(state_.applied_updates);
  }
  const report::Progress progress = progress_->line();
  report_->progress(progress);
  if (listener_.on_update && !listener_.on_update(progress)) {
    is_asked_to_stop_ = true;
  }
}

void Trainer::count_update(const UpdateResult& result) {
  ++state_.step;
  state_.applied_updates = replicas_->applied_updates();
  state_.target_tokens += result.sums.tokens;
  if (result.applied) {
    state_.skipped_in_a_row = 0;
    state_.window += result.sums;
    return;
  }
  ++state_.skipped_in_a_row;
  report_->event({state_.step, "skipped_update",
                  fmt::format("step {}: a gradient is not finite; the update is skipped ({} in a row)", state_.step,
                              state_.skipped_in_a_row),
                  clock_.seconds()});
  base::check(state_.skipped_in_a_row < kMaxSkippedInARow, base::ErrorKind::kRuntime,
              "train: {} updates in a row had gradients that are not finite (last at step {}); the last checkpoint is "
              "intact; lower --learning-rate or raise --warmup-steps",
              kMaxSkippedInARow, state_.step);
}

void Trainer::log_window() {
  report_->train_row(progress_->row());
  const std::string warning = loss_watch_->warning(state_.window.loss_per_token(), state_.step);
  if (!warning.empty()) {
    report_->warning(warning);
  }
  state_.window = {};
  state_.window_start = clock_.seconds();
}

ValidationLimits Trainer::validation_limits() const {
  return plan_ ? ValidationLimits{plan_->search_tokens, plan_->gives_back()} : ValidationLimits();
}

// Without validation text the newest model is the best one, unless an earlier part of the run had such text.
void Trainer::validate() {
  const WeightAverage::Scope averaged(*average_);
  if (!validation_->has_data()) {
    if (state_.best_step == 0) {
      publisher_->publish(*model_);
    }
    return;
  }
  const double started = clock_.seconds();
  const ValidationResult result = validation_->run(*replicas_, *model_, processes_, validation_limits());
  const double score = result.score(options_.run.metric);
  base::check_usage(options_.run.metric == ValidationMetric::kLoss || !std::isnan(score),
                    "train: the task does not measure --metric {}, so no model would be the best; choose another",
                    base::name_of(options_.run.metric));
  const bool best = std::isfinite(result.sums.loss) && (state_.best_step == 0 || score > state_.best_score);
  if (std::isfinite(score)) {
    state_.scores[state_.step] = score;
  }
  state_.stale_validations = best ? 0 : state_.stale_validations + 1;
  if (best) {
    state_.best_step = state_.step;
    state_.best_score = score;
    publisher_->publish(*model_);
    has_published_best_ = true;
  }
  const report::ValidationRow row = {state_.step,
                                     progress_->epoch(),
                                     result.sums.nll_per_token(),
                                     result.sums.perplexity(),
                                     result.bleu,
                                     result.chrf,
                                     best,
                                     clock_.seconds(),
                                     result.accuracy,
                                     result.mrr};
  report_->validation(row, result,
                      processes_.leads() ? validation_->pictures(*model_) : std::vector<report::HeatMap>());
  if (listener_.on_validation) {
    listener_.on_validation(row);
  }
  if (plan_ && plan_->gives_back()) {
    reserve();
  }
  report_->write("training");
  state_.window_start += clock_.seconds() - started;  // validating is not training time
}

void Trainer::save() {
  state_.seconds = clock_.seconds();
  state_.batcher = batcher_->state().dump();
  state_.processes = processes_.size();
  state_.workers = options_.run.workers;
  const DataParallel::Moments moments = replicas_->moments();
  const std::string name = publisher_->save(*model_, {moments.first, moments.second, average_->tensor()}, state_);
  if (!name.empty()) {
    report_->checkpoint({state_.step, name, clock_.seconds()});
  }
}

// All processes come to the same answer: a signal or request counts wherever it came, and time is the leading
// process's.
std::optional<StopReason> Trainer::should_stop(const base::StopSignals& signals) {
  constexpr int kAsked = 1;  // below the exit status of any signal
  const int asked = signals.exit_status() != 0 || !is_asked_to_stop_ ? signals.exit_status() : kAsked;
  const int agreed = static_cast<int>(processes_.maximum(asked));
  exit_status_ = agreed == kAsked ? 0 : agreed;
  clock_.agree(processes_);
  return agreed == kAsked ? StopReason::kRequested
                          : reason_to_stop(options_.run, state_, clock_, batcher_->epoch(), exit_status_);
}

}  // namespace dragoman::training
