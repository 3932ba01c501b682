#include "training/run_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dragoman::training {

RunProgress::RunProgress(const TrainOptions& options, const RunState& state, const RunClock& clock,
                         uint64_t epoch_tokens)
    : options_(options),
      state_(state),
      clock_(clock),
      epoch_tokens_(static_cast<double>(epoch_tokens)),
      first_step_(state.step) {}

void RunProgress::note(const UpdateResult& result, double learning_rate) {
  times_.add(result.times, 1.0);
  gradient_norm_ = result.gradient_norm;
  learning_rate_ = learning_rate;
}

double RunProgress::epoch() const {
  return static_cast<double>(state_.target_tokens) / epoch_tokens_;
}

report::Progress RunProgress::line() const {
  report::Progress progress = {
      state_.step,         options_.run.max_steps, epoch(),        state_.window.loss_per_token(),
      tokens_per_second(), learning_rate_,         seconds_left(), state_.skipped_updates(),
      divergence()};
  add_time_limit(progress);
  return progress;
}

// Of two limits the one that is reached first.
void RunProgress::add_time_limit(report::Progress& progress) const {
  const RunOptions& run = options_.run;
  const double all = clock_.seconds() / 60.0, here = clock_.wall_seconds_here() / 60.0;
  const bool by_total =
      run.total_minutes > 0.0 && (run.max_minutes <= 0.0 || run.total_minutes - all <= run.max_minutes - here);
  progress.minutes = by_total ? all : here;
  progress.max_minutes = by_total ? run.total_minutes : run.max_minutes;
}

report::TrainRow RunProgress::row() const {
  return {state_.step,
          epoch(),
          state_.window.loss_per_token(),
          learning_rate_,
          tokens_per_second(),
          gradient_norm_,
          clock_.seconds(),
          divergence()};
}

std::string RunProgress::where_time_went() const {
  const double seconds = clock_.wall_seconds_here();
  const auto percent = [&](double part) { return seconds > 0.0 ? 100.0 * part / seconds : 0.0; };
  return fmt::format(
      "time: {:.0f}% data, {:.0f}% forward, {:.0f}% backward, {:.0f}% gradient sums and waiting, {:.0f}% optimizer, "
      "{:.0f}% validation and saving",
      percent(times_.data), percent(times_.packing + times_.forward), percent(times_.backward),
      percent(times_.gradients), percent(times_.optimizer), percent(std::max(seconds - times_.total(), 0.0)));
}

double RunProgress::tokens_per_second() const {
  const double elapsed = clock_.seconds() - state_.window_start;
  return elapsed > 0.0 ? static_cast<double>(state_.window.tokens) / elapsed : 0.0;
}

double RunProgress::divergence() const {
  return options_.loss.two_passes() ? state_.window.kl_per_token() : report::kNotMeasured;
}

// By the speed of this process so far, validations included, or by the limits on time.
double RunProgress::seconds_left() const {
  const double elapsed = clock_.wall_seconds_here();
  const auto done = static_cast<double>(state_.step - first_step_);
  const RunOptions& run = options_.run;
  const double wall_of_second = elapsed / clock_.seconds_here();
  const double total =
      run.total_minutes > 0.0 ? (60.0 * run.total_minutes - clock_.seconds()) * wall_of_second : HUGE_VAL;
  const double now = run.max_minutes > 0.0 ? 60.0 * run.max_minutes - elapsed : HUGE_VAL;
  return done > 0.0 ? std::min({elapsed / done * static_cast<double>(run.max_steps - state_.step), total, now}) : -1.0;
}

}  // namespace dragoman::training
