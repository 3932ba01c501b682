#include "training/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/lap.h"
#include "kernels/backends/backend_of.h"
#include "report/svg_heat_map.h"
#include "tensor/transfer.h"
#include "training/attention_maps.h"
#include "training/rank_agreement.h"

namespace dragoman::training {
namespace {

constexpr int64_t kMaxSkippedInARow = 20;
constexpr int64_t kStepsToSettle = 200;  // until then the loss may be worse than guessing
constexpr int64_t kLostWindows = 3;      // worse than guessing, in a row, call for a warning

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

StopReason Trainer::run() {
  const base::StopSignals signals;
  run_start_ = clock_seconds();
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
  times_.data += reading();
  const int64_t step = state_.step + 1;
  rate_ = learning_rate(options_.schedule, step, agreed_seconds_);
  const UpdateResult result = replicas_->update(std::move(batches), step, rate_, options_.run.seed);
  times_.add(result.times, 1.0);
  count_update(result);
  if (result.applied) {
    update_average();
  }
  report_->progress({state_.step, options_.run.max_steps, epoch(), state_.window.loss_per_token(), window_speed(),
                     rate_, seconds_left(), state_.skipped_updates(), window_kl()});
}

void Trainer::count_update(const UpdateResult& result) {
  ++state_.step;
  state_.applied_updates = replicas_->applied_updates();
  state_.target_tokens += result.sums.tokens;
  last_norm_ = result.gradient_norm;
  if (result.applied) {
    state_.skipped_in_a_row = 0;
    state_.window += result.sums;
    return;
  }
  ++state_.skipped_in_a_row;
  report_->event({state_.step, "skipped_update",
                  fmt::format("step {}: a gradient is not finite; the update is skipped ({} in a row)", state_.step,
                              state_.skipped_in_a_row),
                  seconds()});
  base::check(state_.skipped_in_a_row < kMaxSkippedInARow, base::ErrorKind::kRuntime,
              "train: {} updates in a row had gradients that are not finite (last at step {}); the last checkpoint is "
              "intact; lower --learning-rate or raise --warmup-steps",
              kMaxSkippedInARow, state_.step);
}

void Trainer::update_average() {
  if (average_.defined()) {
    // Early on the average follows fast, or it would remember the random start for long.
    const double updates = static_cast<double>(state_.applied_updates);
    const double decay = std::min(options_.run.ema_decay, (1.0 + updates) / (10.0 + updates));
    kernels::backend_of(average_).ema_update(average_, model_->parameters().values(), decay);
  }
}

void Trainer::log_window() {
  report_->train_row({state_.step, epoch(), state_.window.loss_per_token(), rate_, window_speed(), last_norm_,
                      seconds(), window_kl()});
  watch_loss(state_.window.loss_per_token());
  state_.window = {};
  state_.window_start = seconds();
}

// Gradients of a run that has diverged may well be finite. Guessing without looking at the text costs ln V.
void Trainer::watch_loss(double loss) {
  const double guessing = std::log(static_cast<double>(options_.model.target_vocab_size));
  lost_windows_ = loss > guessing && state_.step > kStepsToSettle ? lost_windows_ + 1 : 0;
  if (lost_windows_ == kLostWindows) {
    report_->warning(fmt::format(
        "the loss is {:.2f} nats a token at step {}, more than guessing would cost ({:.2f}): the run has probably "
        "diverged; start anew with a lower --learning-rate, more --warmup-steps or --clip-norm 1",
        loss, state_.step, guessing));
  }
}

void Trainer::validate() {
  if (!validator_->has_data()) {
    publish();
    return;
  }
  const double started = seconds();
  swap_average();
  const ValidationResult result = validator_->run(*replicas_, *model_, processes_);
  const double score = result.score(options_.run.metric);
  const bool best = std::isfinite(result.sums.loss) && (state_.best_step == 0 || score > state_.best_score);
  if (std::isfinite(score)) {
    state_.scores[state_.step] = score;
  }
  state_.stale_validations = best ? 0 : state_.stale_validations + 1;
  if (best) {
    state_.best_step = state_.step;
    state_.best_score = score;
    publish_weights();
  }
  report_->validation({state_.step, epoch(), result.sums.nll_per_token(), result.sums.perplexity(), result.bleu,
                       result.chrf, best, seconds()},
                      result, *validator_,
                      processes_.leads() ? attention_maps(*model_, *validator_) : std::vector<report::HeatMap>());
  swap_average();
  if (plan_ && plan_->gives_back()) {
    reserve();
  }
  report_->write("training");
  state_.window_start += seconds() - started;  // validating is not training time
}

// Validation, publishing and averaging see the moving average where there is one.
void Trainer::swap_average() {
  if (average_.defined()) {
    tensor::swap_elements(average_, model_->parameters().mutable_values());
  }
}

void Trainer::publish() {
  swap_average();
  publish_weights();
  swap_average();
}

void Trainer::publish_weights() {
  if (processes_.leads()) {
    publish_model(options_.model_folder, *model_, texts_);
  }
}

void Trainer::save() {
  if (!processes_.leads()) {
    return;
  }
  const tensor::Tensor& values = model_->parameters().values();
  base::check(kernels::backend_of(values).all_finite(values), base::ErrorKind::kRuntime,
              "train: a weight is not finite at step {}; nothing is saved, the last checkpoint is intact", state_.step);
  state_.seconds = seconds();
  state_.batcher = batcher_->state().dump();
  state_.processes = processes_.size();
  state_.workers = options_.run.workers;
  const auto folder = checkpoint_folder(options_.model_folder, state_.step);
  save_checkpoint(options_.model_folder, *model_,
                  {replicas_->adam().first_moment(), replicas_->adam().second_moment(), average_},
                  {folder, state_, recipe_json(options_), texts_});
  const RunOptions& run = options_.run;
  prune_checkpoints(options_.model_folder, state_.scores, {run.keep_last, run.keep_best, run.validate_every});
  report_->checkpoint({state_.step, folder.filename().string(), seconds()});
}

// All processes come to the same answer: a signal counts wherever it came, and time is the leading process's.
std::optional<StopReason> Trainer::should_stop(const base::StopSignals& signals) {
  const RunOptions& run = options_.run;
  exit_status_ = static_cast<int>(processes_.maximum(signals.exit_status()));
  agreed_seconds_ = processes_.maximum(processes_.leads() ? seconds() : 0.0);
  if (exit_status_ != 0) {
    return StopReason::kSignal;
  }
  if (run.patience > 0 && state_.stale_validations >= run.patience) {
    return StopReason::kEarlyStop;
  }
  if (state_.step >= run.max_steps) {
    return StopReason::kMaxSteps;
  }
  if (run.max_epochs > 0 && batcher_->epoch() >= static_cast<uint64_t>(run.max_epochs)) {
    return StopReason::kMaxEpochs;
  }
  if (run.total_minutes > 0.0 && agreed_seconds_ >= 60.0 * run.total_minutes) {
    return StopReason::kTotalTime;
  }
  if (run.max_minutes > 0.0 && agreed_seconds_ - seconds_before_ >= 60.0 * run.max_minutes) {
    return StopReason::kMaxTime;
  }
  return std::nullopt;
}

double Trainer::seconds() const {
  return seconds_before_ + (run_start_ > 0.0 ? clock_seconds() - run_start_ : 0.0);
}

double Trainer::epoch() const {
  return static_cast<double>(state_.target_tokens) / static_cast<double>(corpus_->statistics().target_tokens);
}

double Trainer::window_speed() const {
  const double elapsed = seconds() - state_.window_start;
  return elapsed > 0.0 ? static_cast<double>(state_.window.tokens) / elapsed : 0.0;
}

double Trainer::window_kl() const {
  return options_.loss.rdrop > 0.0 ? state_.window.kl_per_token() : report::kNotMeasured;
}

// By the speed of this process so far, validations included, or by the limits on time.
double Trainer::seconds_left() const {
  const double elapsed = seconds() - seconds_before_;
  const auto done = static_cast<double>(state_.step - first_step_);
  const RunOptions& run = options_.run;
  const double total = run.total_minutes > 0.0 ? 60.0 * run.total_minutes - seconds() : HUGE_VAL;
  const double now = run.max_minutes > 0.0 ? 60.0 * run.max_minutes - elapsed : HUGE_VAL;
  return done > 0.0 ? std::min({elapsed / done * static_cast<double>(run.max_steps - state_.step), total, now}) : -1.0;
}

}  // namespace dragoman::training
