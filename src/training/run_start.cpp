#include "training/run_start.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "base/error.h"
#include "decoding/load_model.h"
#include "kernels/product_kernel.h"
#include "models/quantised_model.h"
#include "report/meter.h"
#include "report/progress_line.h"
#include "tensor/transfer.h"
#include "training/vocabularies.h"

namespace dragoman::training {
namespace {

using Bytes = std::vector<std::uint8_t>;

// What all ranks are told.
struct Message {
  std::optional<Checkpoint> checkpoint;
  models::VocabularyFiles vocabularies;
  std::string initial_config;
  std::string labels;
  std::string languages = {};  // of the model to start from
};

// Training could not have begun with a model that `quantize` made.
void check_is_not_rounded(const models::ModelFiles& model, const std::filesystem::path& folder) {
  const kernels::Precision precision = models::stored_precision(model.tensors);
  base::check_usage(precision == kernels::Precision::kFloat32,
                    "{}: holds a model rounded to {} by `dragoman quantize`, which cannot be trained; name another "
                    "folder, or go on with the model that it was made of",
                    folder.string(), kernels::name_of(precision));
}

// Without a checkpoint to go on from, the model at the top would be lost. @param damages  of checkpoints
void check_no_model_is_lost(const std::filesystem::path& folder, const std::vector<std::string>& damages) {
  const bool has_model =
      std::filesystem::exists(folder / base::kManifestName) || std::filesystem::exists(folder / models::kWeightsName);
  if (!has_model || awaits_first_checkpoint(folder)) {
    return;
  }
  if (std::filesystem::exists(folder / base::kManifestName)) {
    check_is_not_rounded(models::read_model_folder(folder), folder);
  }
  base::fail(
      base::ErrorKind::kUsage,
      "{0}: holds a model, but no checkpoint of a run that could go on{1}; training would replace the model; name "
      "another --model folder, with --initial-model {0} to start from this model",
      folder.string(), damages.empty() ? "" : fmt::format(" ({})", fmt::join(damages, "; ")));
}

Message look_around(const TrainOptions& options, const Task& task, std::ostream& terminal,
                    std::vector<std::string>& notes, tensor::NamedTensors& initial_weights) {
  std::optional<Checkpoint> checkpoint = find_newest_checkpoint(options.model_folder, notes);
  if (checkpoint) {
    models::VocabularyFiles vocabularies = checkpoint->texts.vocabularies;
    std::string config = options.initial_model.empty() ? "" : checkpoint->texts.config;
    std::string labels = checkpoint->texts.labels;
    return {std::move(checkpoint), std::move(vocabularies), std::move(config), std::move(labels)};
  }
  check_no_model_is_lost(options.model_folder, notes);
  if (!options.initial_model.empty()) {
    models::ModelFiles initial = models::read_model_folder(options.initial_model);
    check_is_not_rounded(initial, options.initial_model);
    notes.push_back(
        fmt::format("starting from the weights, shape and vocabulary of {}", options.initial_model.string()));
    initial_weights = std::move(initial.tensors);
    return {std::nullopt, std::move(initial.vocabularies), std::move(initial.config), std::move(initial.labels),
            std::move(initial.languages)};
  }
  std::optional<report::Meter> meter;  // shown until the vocabulary is there
  if (options.tokenizer.empty()) {
    const bool counts_pieces = options.vocabulary.type != data::VocabularyOptions::Type::kCharacters;
    const std::string size = counts_pieces ? fmt::format("{} pieces", report::format_count(options.vocabulary.size))
                                           : "the text's characters";
    terminal << fmt::format("learning a vocabulary of {}\n", size) << std::flush;
    meter.emplace(terminal, "learning a vocabulary", "", report::meter_options_for(STDERR_FILENO));
  }
  return {std::nullopt, model_texts(task.find_vocabularies(options, notes), options.model).vocabularies, "", ""};
}

std::string to_bytes(const Message& message) {
  nlohmann::json tree = {{"vocabularies", nlohmann::json::object()},
                         {"initial_config", message.initial_config},
                         {"labels", message.labels},
                         {"languages", message.languages}};
  for (const auto& [name, bytes] : message.vocabularies) {
    tree["vocabularies"][name] = nlohmann::json::binary(Bytes(bytes.begin(), bytes.end()));
  }
  if (message.checkpoint) {
    tree["checkpoint"] = {{"folder", message.checkpoint->folder.string()},
                          {"state", to_json(message.checkpoint->state)},
                          {"recipe", message.checkpoint->recipe},
                          {"config", message.checkpoint->texts.config},
                          {"languages", message.checkpoint->texts.languages}};
  }
  std::string bytes;
  nlohmann::json::to_cbor(tree, nlohmann::detail::output_adapter<char>(bytes));
  return bytes;
}

Message from_bytes(const std::string& bytes) {
  const nlohmann::json tree = nlohmann::json::from_cbor(bytes);
  Message message;
  message.initial_config = tree.at("initial_config").get<std::string>();
  message.labels = tree.at("labels").get<std::string>();
  message.languages = tree.at("languages").get<std::string>();
  for (const auto& [name, value] : tree.at("vocabularies").items()) {
    const Bytes& content = value.get_binary();
    message.vocabularies[name] = std::string(content.begin(), content.end());
  }
  if (tree.contains("checkpoint")) {
    const nlohmann::json& saved = tree.at("checkpoint");
    message.checkpoint = Checkpoint{saved.at("folder").get<std::string>(),
                                    run_state_from_json(saved.at("state").get<std::string>(), "state.json"),
                                    saved.at("recipe").get<std::string>(),
                                    {saved.at("config").get<std::string>(), message.vocabularies,
                                     saved.at("languages").get<std::string>(), message.labels}};
  }
  return message;
}

}  // namespace

void check_model_is_of_a_run(const std::filesystem::path& folder) {
  std::error_code none;
  const std::filesystem::directory_iterator checkpoints(checkpoints_folder(folder), none);
  if (none || checkpoints == std::filesystem::directory_iterator()) {  // others are looked at when the lock is held
    check_no_model_is_lost(folder, {});
  }
}

RunStart find_run_start(const TrainOptions& options, const Task& task, distributed::ProcessGroup& processes,
                        std::ostream& terminal, std::vector<std::string>& notes) {
  tensor::NamedTensors weights;
  const std::string bytes = processes.leads() ? to_bytes(look_around(options, task, terminal, notes, weights)) : "";
  Message message = from_bytes(processes.broadcast(bytes));
  data::VocabularyPair vocabularies = decoding::load_vocabularies(message.vocabularies, options.model_folder);
  return {std::move(message.checkpoint), std::move(vocabularies),      std::move(message.initial_config),
          std::move(message.labels),     std::move(message.languages), std::move(weights)};
}

kernels::Precision precision_of_run(const TrainOptions& options, const std::optional<Checkpoint>& checkpoint) {
  if (options.precision) {
    return *options.precision;
  }
  std::optional<kernels::Precision> begun;
  if (checkpoint) {
    begun = base::from_name<std::optional<kernels::Precision>>(
        nlohmann::json::parse(checkpoint->recipe).value("precision", "float32"));
  }
  return begun.value_or(kernels::fastest_precision());
}

void restore_tensors(const Checkpoint& checkpoint, distributed::ProcessGroup& processes, models::Model& model,
                     OptimizerTensors& optimizer) {
  if (processes.leads()) {
    load_checkpoint(checkpoint, model, optimizer);
  }
  processes.broadcast(tensor::HostEdit<float>(model.parameters().mutable_values()).span());
  processes.broadcast(tensor::HostEdit<float>(optimizer.first_moment).span());
  processes.broadcast(tensor::HostEdit<float>(optimizer.second_moment).span());
  if (optimizer.average.defined()) {
    processes.broadcast(tensor::HostEdit<float>(optimizer.average).span());
  }
}

}  // namespace dragoman::training
