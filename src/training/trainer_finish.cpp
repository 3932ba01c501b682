// How a run ends: what Trainer does after its last update.
#include <fmt/format.h>

#include "base/memory.h"
#include "tensor/transfer.h"
#include "training/trainer.h"

namespace dragoman::training {

void Trainer::finish(StopReason reason) {
  report_->finish_line();  // the last step stands above what is said about the end
  const bool unseen = state_.step > 0 && state_.step % options_.run.validate_every != 0;
  if (is_over(reason) && unseen && validation_->has_data()) {
    // The checkpoint is written: a run that goes on from it after all has not seen this. A finished run that is started
    // again does it again, for the average is to be compared with it.
    validate();
  }
  if (!validation_->has_data() || !publisher_->has_model()) {
    const WeightAverage::Scope averaged(*average_);
    publisher_->publish(*model_);
  }
  if (is_over(reason) && options_.run.average > 1) {
    average_checkpoints();
  }
  report_->message(progress_->where_time_went());
  report_->event({state_.step, "peak_memory",
                  fmt::format("memory: {} at most{}", base::format_size(base::peak_resident_memory()),
                              plan_ ? fmt::format(", {} planned", base::format_size(plan_->peak())) : ""),
                  clock_.seconds()});
  report_->event({state_.step, "finish", stop_text(reason), clock_.seconds()});
  report_->write(stop_text(reason));
}

// The paper's last step (section 6.1). The average becomes the model if it validates better than the best so far.
void Trainer::average_checkpoints() {
  const std::vector<std::filesystem::path> folders = publisher_->checkpoints_to_average(state_);
  if (processes_.maximum(static_cast<double>(folders.size())) < 2) {
    return;
  }
  replicas_->give_back_memory();
  const tensor::ArenaScope passing(tensor::Arena::current()->another());
  const tensor::Tensor weights = model_->parameters().values().clone();
  if (processes_.leads()) {
    average_into(folders, average_->is_on(), *model_);
  }
  processes_.broadcast(tensor::HostEdit<float>(model_->parameters().mutable_values()).span());
  const bool validated = validation_->has_data();
  const ValidationResult result =
      validated ? validation_->run(*replicas_, *model_, processes_, validation_limits()) : ValidationResult{};
  const bool better = !validated || result.score(options_.run.metric) > state_.best_score;
  std::string scores;
  if (validated) {
    for (const std::string& score : result.scores_text()) {
      scores += score + "  ";
    }
    scores += fmt::format("perplexity {:.3f}; ", result.sums.perplexity());
  }
  report_->event({state_.step, "average",
                  fmt::format("average of {} checkpoints: {}{}", folders.size(), scores,
                              better ? "it is the model now" : "the best checkpoint stays the model"),
                  clock_.seconds()});
  if (better) {
    publisher_->publish(*model_);
  }
  model_->parameters().mutable_values().copy_from(weights);
}

}  // namespace dragoman::training
