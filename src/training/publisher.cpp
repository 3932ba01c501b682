#include "training/publisher.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "models/model_tensors.h"
#include "tensor/transfer.h"

namespace dragoman::training {

Publisher::Publisher(const TrainOptions& options, distributed::ProcessGroup& processes, ModelTexts texts)
    : options_(options), processes_(processes), texts_(std::move(texts)) {}

void Publisher::publish(const models::Model& model) const {
  if (processes_.leads()) {
    if (!has_model() && list_checkpoints(options_.model_folder).empty()) {
      mark_first_model(options_.model_folder);
    }
    publish_model(options_.model_folder, model, texts_);
  }
}

bool Publisher::has_model() const {
  return std::filesystem::exists(options_.model_folder / base::kManifestName);
}

bool Publisher::holds(const models::Model& model) const try {
  const tensor::NamedTensors top = models::read_model_folder(options_.model_folder).tensors;
  return std::ranges::all_of(models::named_tensors(model.parameters()), [&](const auto& named) {
    const auto found = top.find(named.first);
    return found != top.end() && found->second.dtype() == named.second.dtype() &&
           std::ranges::equal(tensor::HostView<float>(found->second).span(),
                              tensor::HostView<float>(named.second).span());
  });
} catch (const base::Error&) {
  return false;
}

std::string Publisher::save(const models::Model& model, const OptimizerTensors& optimizer,
                            const RunState& state) const {
  if (!processes_.leads()) {
    return "";
  }
  const tensor::Tensor& values = model.parameters().values();
  base::check(kernels::backend_of(values).all_finite(values), base::ErrorKind::kRuntime,
              "train: a weight is not finite at step {}; nothing is saved, the last checkpoint is intact", state.step);
  const auto folder = checkpoint_folder(options_.model_folder, state.step);
  save_checkpoint(options_.model_folder, model, optimizer, {folder, state, recipe_json(options_), texts_});
  unmark_first_model(options_.model_folder);
  const RunOptions& run = options_.run;
  prune_checkpoints(options_.model_folder, state.scores, {run.keep_last, run.keep_best, run.validate_every});
  return folder.filename().string();
}

std::vector<std::filesystem::path> Publisher::checkpoints_to_average(const RunState& state) const {
  if (!processes_.leads()) {
    return {};
  }
  const RunOptions& run = options_.run;
  return run.average_best ? best_checkpoints(options_.model_folder, run.average, state.scores)
                          : last_checkpoints(options_.model_folder, run.average);
}

}  // namespace dragoman::training
