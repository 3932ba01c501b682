#include "training/task_model.h"

#include "base/error.h"

namespace dragoman::training {
namespace {

using models::ModelKind;

constexpr int64_t kAnySize = 1000;  // of vocabularies, which are known later

ModelKind kind_of(const models::ModelConfig& model) {
  return model.with_vocabulary_sizes(kAnySize, kAnySize).sizes().kind();
}

std::string_view words_of(ModelKind kind) {
  switch (kind) {
    case ModelKind::kEncoderDecoder:
      return "an encoder and a decoder";
    case ModelKind::kDecoder:
      return "a decoder without an encoder";
    case ModelKind::kEncoder:
      return "an encoder";
  }
  return "";
}

std::string_view preset_for(ModelKind kind, std::string_view task) {
  switch (kind) {
    case ModelKind::kEncoderDecoder:
      return task == "translation" ? "tiny-hour" : "t5-mini";
    case ModelKind::kDecoder:
      return "gpt-mini";
    case ModelKind::kEncoder:
      return "bert-mini";
  }
  return "";
}

}  // namespace

void check_preset_suits(ModelKind needed, const TrainOptions& options) {
  base::check_usage(!options.initial_model.empty() || kind_of(options.model) == needed,
                    "train: task {} needs {}, the preset {} has a model of architecture {}; choose --preset {}",
                    options.task, words_of(needed), options.preset, options.model.architecture(),
                    preset_for(needed, options.task));
}

void check_reads_text(const TrainOptions& options) {
  base::check_usage(!options.text.empty(), "train: --text names the text of task {}", options.task);
  base::check_usage(options.source.empty() && options.target.empty(),
                    "train: --source and --target are for translation; task {} learns from --text", options.task);
}

void check_model_suits(ModelKind needed, std::string_view task, const models::ModelConfig& model) {
  base::check_usage(kind_of(model) == needed,
                    "train: task {} needs {}, --initial-model holds a model of architecture {}; name another model, or "
                    "another --task",
                    task, words_of(needed), model.architecture());
}

}  // namespace dragoman::training
