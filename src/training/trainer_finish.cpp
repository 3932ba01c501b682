// How a run ends: what Trainer does after its last update.
#include <fmt/format.h>

#include <algorithm>

#include "base/memory.h"
#include "tensor/transfer.h"
#include "training/trainer.h"

namespace dragoman::training {
namespace {

std::string describe_stop(StopReason reason) {
  switch (reason) {
    case StopReason::kMaxSteps:
      return "finished: all steps done";
    case StopReason::kMaxEpochs:
      return "finished: all epochs done";
    case StopReason::kTotalTime:
      return "finished: the time of the run is used up";
    case StopReason::kMaxTime:
      return "stopped: time is up; run the same command to go on";
    case StopReason::kEarlyStop:
      return "finished: no improvement any more";
    case StopReason::kSignal:
      return "stopped by a signal; run the same command to go on";
  }
  return "finished";
}

// What remains of the whole is validation, checkpoints and reports.
std::string where_time_went(const UpdateTimes& times, double seconds) {
  const auto percent = [&](double part) { return seconds > 0.0 ? 100.0 * part / seconds : 0.0; };
  return fmt::format(
      "time: {:.0f}% data, {:.0f}% forward, {:.0f}% backward, {:.0f}% gradient sums and waiting, {:.0f}% optimizer, "
      "{:.0f}% validation and saving",
      percent(times.data), percent(times.packing + times.forward), percent(times.backward), percent(times.gradients),
      percent(times.optimizer), percent(std::max(seconds - times.total(), 0.0)));
}

}  // namespace

void Trainer::finish(StopReason reason) {
  report_->finish_line();  // the last step stands above what is said about the end
  const bool ended = reason != StopReason::kSignal && reason != StopReason::kMaxTime;
  const bool unseen = state_.step > 0 && state_.step % options_.run.validate_every != 0;
  if (ended && unseen && validator_->has_data()) {
    // The checkpoint is written: a run that goes on from it after all has not seen this. A finished run that is started
    // again does it again, for the average is to be compared with it.
    validate();
  }
  if (!validator_->has_data() || !std::filesystem::exists(options_.model_folder / "manifest.json")) {
    publish();
  }
  if (ended && options_.run.average > 1) {
    average_checkpoints();
  }
  report_->message(where_time_went(times_, seconds() - seconds_before_));
  report_->event({state_.step, "peak_memory",
                  fmt::format("memory: {} at most{}", base::format_size(base::peak_resident_memory()),
                              plan_ ? fmt::format(", {} planned", base::format_size(plan_->peak())) : ""),
                  seconds()});
  report_->event({state_.step, "finish", describe_stop(reason), seconds()});
  report_->write(describe_stop(reason));
}

// The paper's last step (section 6.1). The average becomes the model if it validates better than the best so far.
void Trainer::average_checkpoints() {
  std::vector<std::filesystem::path> folders;
  if (processes_.leads()) {
    folders = checkpoints_to_average();
  }
  if (processes_.maximum(static_cast<double>(folders.size())) < 2) {
    return;
  }
  replicas_->give_back_memory();
  const tensor::ArenaScope passing(tensor::Arena::current()->another());
  const tensor::Tensor weights = model_->parameters().values().clone();
  if (processes_.leads()) {
    average_into(folders, average_.defined(), *model_);
  }
  processes_.broadcast(tensor::HostEdit<float>(model_->parameters().mutable_values()).span());
  const bool validated = validator_->has_data();
  const ValidationResult result = validated ? validator_->run(*replicas_, *model_, processes_) : ValidationResult{};
  const double score = result.score(options_.run.metric);
  const bool better = !validated || score > state_.best_score;
  const std::string scores = validated ? fmt::format("BLEU {:.2f}  chrF {:.2f}  perplexity {:.3f}; ", result.bleu,
                                                     result.chrf, result.sums.perplexity())
                                       : "";
  report_->event({state_.step, "average",
                  fmt::format("average of {} checkpoints: {}{}", folders.size(), scores,
                              better ? "it is the model now" : "the best checkpoint stays the model"),
                  seconds()});
  if (better) {
    publish_weights();
  }
  model_->parameters().mutable_values().copy_from(weights);
}

std::vector<std::filesystem::path> Trainer::checkpoints_to_average() const {
  const RunOptions& run = options_.run;
  return run.average_best ? best_checkpoints(options_.model_folder, run.average, state_.scores)
                          : last_checkpoints(options_.model_folder, run.average);
}

}  // namespace dragoman::training
