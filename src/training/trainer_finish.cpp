// How a run ends: what Trainer does after its last update.
#include <fmt/format.h>

#include "base/memory.h"
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

}  // namespace

void Trainer::finish(StopReason reason) {
  const bool ended = reason != StopReason::kSignal && reason != StopReason::kMaxTime;
  const bool unseen = state_.step > first_step_ && state_.step % options_.run.validate_every != 0;
  if (ended && unseen && validator_->has_data()) {
    validate();  // the checkpoint is written: a run that goes on from it after all has not seen this
  }
  if (!validator_->has_data() || !std::filesystem::exists(options_.model_folder / "manifest.json")) {
    publish();
  }
  if (ended && options_.run.average > 1) {
    average_checkpoints();
  }
  report_->event({state_.step, "peak_memory",
                  fmt::format("memory: {} at most{}", base::format_size(base::peak_resident_memory()),
                              plan_ ? fmt::format(", {} planned", base::format_size(plan_->peak())) : ""),
                  seconds()});
  report_->event({state_.step, "finish", describe_stop(reason), seconds()});
  report_->write(describe_stop(reason));
  report_->finish_line();
}

// The paper's last step (section 6.1). The average becomes the model if it validates better than the best so far.
void Trainer::average_checkpoints() {
  const std::vector<std::filesystem::path> folders = checkpoints_to_average();
  if (folders.size() < 2) {
    return;
  }
  replicas_->give_back_memory();
  const tensor::ArenaScope passing(std::make_shared<tensor::Arena>());
  const tensor::Tensor weights = model_->parameters().values().clone();
  average_into(folders, average_.defined(), *model_);
  const bool validated = validator_->has_data();
  const ValidationResult result = validated ? validator_->run(*replicas_, *model_) : ValidationResult{};
  const double score = result.score(options_.run.metric);
  const bool better = !validated || score > state_.best_score;
  report_->event({state_.step, "average",
                  fmt::format("average of {} checkpoints: BLEU {:.2f}  chrF {:.2f}  perplexity {:.3f}; {}",
                              folders.size(), result.bleu, result.chrf, result.sums.perplexity(),
                              better ? "it is the model now" : "the best checkpoint stays the model"),
                  seconds()});
  if (better) {
    publish_model(options_.model_folder, *model_, texts_);
  }
  model_->parameters().values().copy_from(weights);
}

std::vector<std::filesystem::path> Trainer::checkpoints_to_average() const {
  const RunOptions& run = options_.run;
  return run.average_best ? best_checkpoints(options_.model_folder, run.average, state_.scores)
                          : last_checkpoints(options_.model_folder, run.average);
}

}  // namespace dragoman::training
