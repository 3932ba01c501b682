#include "training/run_start.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "base/error.h"
#include "decoding/load_translator.h"
#include "models/quantised_model.h"
#include "ops/product_kernel.h"
#include "training/progress_line.h"
#include "training/vocabularies.h"

namespace dragoman::training {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Message {
  std::optional<Checkpoint> checkpoint;
  models::VocabularyFiles vocabularies;
};

// A model that `quantize` made is not written over by a training that could not have begun with it.
void check_is_not_rounded(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / base::kManifestName)) {
    return;
  }
  const ops::Precision precision = models::stored_precision(models::read_model_folder(folder).tensors);
  base::check_usage(precision == ops::Precision::kFloat32,
                    "{}: holds a model rounded to {} by `dragoman quantize`, which cannot be trained; name another "
                    "folder, or go on with the model that it was made of",
                    folder.string(), ops::name_of(precision));
}

Message look_around(const TrainOptions& options, std::ostream& terminal, std::vector<std::string>& notes) {
  std::optional<Checkpoint> checkpoint = find_newest_checkpoint(options.model_folder, notes);
  if (checkpoint) {
    models::VocabularyFiles vocabularies = checkpoint->texts.vocabularies;
    return {std::move(checkpoint), std::move(vocabularies)};
  }
  check_is_not_rounded(options.model_folder);
  terminal << fmt::format("learning a vocabulary of {} pieces\n", format_count(options.vocabulary.size)) << std::flush;
  return {std::nullopt, model_texts(learn_vocabularies(options, notes), options.model).vocabularies};
}

std::string to_bytes(const Message& message) {
  nlohmann::json tree = {{"vocabularies", nlohmann::json::object()}};
  for (const auto& [name, bytes] : message.vocabularies) {
    tree["vocabularies"][name] = nlohmann::json::binary(Bytes(bytes.begin(), bytes.end()));
  }
  if (message.checkpoint) {
    tree["checkpoint"] = {{"folder", message.checkpoint->folder.string()},
                          {"state", to_json(message.checkpoint->state)},
                          {"recipe", message.checkpoint->recipe},
                          {"config", message.checkpoint->texts.config}};
  }
  std::string bytes;
  nlohmann::json::to_cbor(tree, nlohmann::detail::output_adapter<char>(bytes));
  return bytes;
}

Message from_bytes(const std::string& bytes) {
  const nlohmann::json tree = nlohmann::json::from_cbor(bytes);
  Message message;
  for (const auto& [name, value] : tree.at("vocabularies").items()) {
    const Bytes& content = value.get_binary();
    message.vocabularies[name] = std::string(content.begin(), content.end());
  }
  if (tree.contains("checkpoint")) {
    const nlohmann::json& saved = tree.at("checkpoint");
    message.checkpoint = Checkpoint{saved.at("folder").get<std::string>(),
                                    run_state_from_json(saved.at("state").get<std::string>(), "state.json"),
                                    saved.at("recipe").get<std::string>(),
                                    {saved.at("config").get<std::string>(), message.vocabularies}};
  }
  return message;
}

}  // namespace

RunStart find_run_start(const TrainOptions& options, distributed::ProcessGroup& processes, std::ostream& terminal,
                        std::vector<std::string>& notes) {
  const std::string bytes = processes.leads() ? to_bytes(look_around(options, terminal, notes)) : "";
  Message message = from_bytes(processes.broadcast(bytes));
  data::VocabularyPair vocabularies = decoding::load_vocabularies(message.vocabularies, options.model_folder);
  return {std::move(message.checkpoint), std::move(vocabularies)};
}

ops::Precision precision_of_run(const TrainOptions& options, const std::optional<Checkpoint>& checkpoint) {
  if (options.precision) {
    return *options.precision;
  }
  std::optional<ops::Precision> begun;
  if (checkpoint) {
    begun = ops::precision_from(nlohmann::json::parse(checkpoint->recipe).value("precision", "float32"));
  }
  return begun.value_or(ops::fastest_precision());
}

void restore_tensors(const Checkpoint& checkpoint, distributed::ProcessGroup& processes, models::Transformer& model,
                     OptimizerTensors& optimizer) {
  if (processes.leads()) {
    load_checkpoint(checkpoint, model, optimizer);
  }
  processes.broadcast(model.parameters().mutable_values().span<float>());
  processes.broadcast(optimizer.first_moment.span<float>());
  processes.broadcast(optimizer.second_moment.span<float>());
  if (optimizer.average.defined()) {
    processes.broadcast(optimizer.average.span<float>());
  }
}

}  // namespace dragoman::training
