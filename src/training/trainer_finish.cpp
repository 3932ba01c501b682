// How a run ends: what Trainer does after its last update.
#include <fmt/format.h>

#include "base/memory.h"
#include "tensor/transfer.h"
#include "training/trainer.h"

namespace dragoman::training {

void Trainer::finish(StopReason reason) {
  report_->finish_line();  // the last step stands above what is said about the end
  const bool has_text = validation_->has_data();
  if (reason != StopReason::kSignal && state_.step > 0 && !is_validated() && has_text) {
    // The checkpoint is written: a run that goes on from it after all has not seen this. A finished run that is started
    // again does it again, for the average is to be compared with it.
    validate();
  }
  if ((!has_text && state_.best_step == 0) || !publisher_->has_model()) {
    const WeightAverage::Scope averaged(*average_);
    publisher_->publish(*model_);
  }
  const bool takes_average = is_over(reason) && options_.run.average > 1 && average_checkpoints();
  if (!takes_average && reason != StopReason::kSignal) {
    publish_best();
  }
  report_->message(progress_->where_time_went());
  report_->event({state_.step, "peak_memory",
                  fmt::format("memory: {} at most{}", base::format_size(base::peak_resident_memory()),
                              plan_ ? fmt::format(", {} planned", base::format_size(plan_->peak())) : ""),
                  clock_.seconds()});
  report_->event({state_.step, "finish", stop_text(reason), clock_.seconds()});
  report_->write(stop_text(reason));
}

// The paper's last step (section 6.1). The average becomes the model if it validates better than the best so far. An
// average that cannot be validated becomes the model if no checkpoint was validated either.
// Returns: true if the average is the model now.
bool Trainer::average_checkpoints() {
  const std::vector<std::filesystem::path> folders = publisher_->checkpoints_to_average(state_);
  if (processes_.maximum(static_cast<double>(folders.size())) < 2) {
    return false;
  }
  replicas_->give_back_memory();
  const tensor::ArenaScope passing(tensor::Arena::current()->another());
  const tensor::Tensor weights = model_->parameters().values().clone();
  if (processes_.leads()) {
    average_into(folders, average_->is_on(), *model_);
  }
  processes_.broadcast(tensor::HostEdit<float>(model_->parameters().mutable_values()).span());
  const bool is_best = average_is_best(folders.size());
  if (is_best) {
    publisher_->publish(*model_);
  }
  model_->parameters().mutable_values().copy_from(weights);
  return is_best;
}

// Compares the average, whose weights the model has, with the best so far, and says so.
bool Trainer::average_is_best(size_t checkpoints) {
  bool is_best = state_.best_step == 0;
  std::string scores;
  if (validation_->has_data()) {
    const ValidationResult result = validation_->run(*replicas_, *model_, processes_, validation_limits());
    is_best = is_best || result.score(options_.run.metric) > state_.best_score;
    for (const std::string& score : result.scores_text()) {
      scores += score + "  ";
    }
    scores += fmt::format("perplexity {:.3f}; ", result.sums.perplexity());
  } else if (!is_best) {
    scores = "not compared, for there is no validation text; ";
  }
  report_->event({state_.step, "average",
                  fmt::format("average of {} checkpoints: {}{}", checkpoints, scores,
                              is_best ? "it is the model now" : "the best checkpoint stays the model"),
                  clock_.seconds()});
  return is_best;
}

// Makes the best checkpoint the model. Another one may stand in its place, which an earlier part of the run left there:
// weights of a stop between two validations, which a run that goes on does not know, or an average.
void Trainer::publish_best() {
  const std::filesystem::path best = checkpoint_folder(options_.model_folder, state_.best_step);
  if (has_published_best_ || state_.best_step == 0 || !processes_.leads() ||
      !std::filesystem::exists(best / base::kManifestName)) {
    return;
  }
  replicas_->give_back_memory();
  const tensor::ArenaScope passing(tensor::Arena::current()->another());
  const tensor::Tensor weights = model_->parameters().values().clone();
  load_model(best, average_->is_on(), *model_);
  if (!publisher_->holds(*model_)) {  // publishing drops what `tune` and `shortlist` have stored
    publisher_->publish(*model_);
  }
  model_->parameters().mutable_values().copy_from(weights);
}

}  // namespace dragoman::training
