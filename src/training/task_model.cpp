#include "training/task_model.h"

#include "base/error.h"

namespace dragoman::training {
namespace {

constexpr int64_t kAnySize = 1000;  // of vocabularies, which are known later

TaskModel kind_of(const models::ModelConfig& model) {
  const models::ModelSizes sizes = model.with_vocabulary_sizes(kAnySize, kAnySize).sizes();
  if (sizes.source_vocab_size == 0) {
    return TaskModel::kDecoder;
  }
  return sizes.target_vocab_size == 0 ? TaskModel::kEncoder : TaskModel::kEncoderDecoder;
}

std::string_view words_of(TaskModel kind) {
  switch (kind) {
    case TaskModel::kEncoderDecoder:
      return "an encoder and a decoder";
    case TaskModel::kDecoder:
      return "a decoder without an encoder";
    case TaskModel::kEncoder:
      return "an encoder";
  }
  return "";
}

std::string_view preset_for(TaskModel kind, std::string_view task) {
  switch (kind) {
    case TaskModel::kEncoderDecoder:
      return task == "translation" ? "tiny-hour" : "t5-mini";
    case TaskModel::kDecoder:
      return "gpt-mini";
    case TaskModel::kEncoder:
      return "bert-mini";
  }
  return "";
}

}  // namespace

void check_preset_suits(TaskModel needed, const TrainOptions& options) {
  base::check_usage(!options.initial_model.empty() || kind_of(options.model) == needed,
                    "train: task {} needs {}, the preset {} has a model of architecture {}; choose --preset {}",
                    options.task, words_of(needed), options.preset, options.model.architecture(),
                    preset_for(needed, options.task));
}

void check_model_suits(TaskModel needed, std::string_view task, const models::ModelConfig& model) {
  base::check_usage(kind_of(model) == needed,
                    "train: task {} needs {}, --initial-model holds a model of architecture {}; name another model, or "
                    "another --task",
                    task, words_of(needed), model.architecture());
}

}  // namespace dragoman::training
