#include "serving/service/model_card.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "decoding/search/search_defaults.h"
#include "models/model_device.h"
#include "serving/service/training_curves.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

// Returns "encoder.layers.3" for "encoder.layers.3.feed_forward.inner.weight", "layers.3" for a stack that stands
// alone, and the first name for all other paths.
std::string module_of(const std::string& path) {
  constexpr std::string_view kLayers = "layers.";
  const size_t layers = path.find(kLayers);
  return layers == std::string::npos ? path.substr(0, path.find('.'))
                                     : path.substr(0, path.find('.', layers + kLayers.size()));
}

json parameters_json(const nn::ParameterSet& parameters) {
  json parts = json::array();
  for (const nn::ParameterHandle& parameter : parameters.parameters()) {
    const std::string part = module_of(parameter->path);
    const auto same = std::ranges::find_if(parts, [&](const json& entry) { return entry["path"] == part; });
    if (same == parts.end()) {
      parts.push_back({{"path", part}, {"count", parameter->shape.size()}});
    } else {
      (*same)["count"] = (*same)["count"].get<int64_t>() + parameter->shape.size();
    }
  }
  return {{"total", parameters.count()}, {"parts", std::move(parts)}};
}

json card_json(const std::string& name, const models::Model& model, const TrainingRecord& record) {
  return {{"name", name},
          {"config", json::parse(model.config().to_json())},
          {"parameters", parameters_json(model.parameters())},
          {"device", models::device_of(model).name()},
          {"training", training_curves(record.history)},
          {"examples", record.examples}};
}

}  // namespace

std::string model_card(const std::string& name, const decoding::Translator& translator, const TrainingRecord& record) {
  json card = card_json(name, translator.model(), record);
  card["shortlist"] = translator.shortlist() != nullptr;
  card["search"] = json::parse(decoding::search_defaults_json(translator.search_defaults()));
  return base::dump_json(card);
}

std::string model_card(const std::string& name, const decoding::Generator& generator, const TrainingRecord& record) {
  return base::dump_json(card_json(name, generator.model(), record));
}

std::string model_card(const std::string& name, const decoding::TextLabeler& encoder, const TrainingRecord& record) {
  json card = card_json(name, encoder.model(), record);
  card["labels"] = encoder.labels().names();
  return base::dump_json(card);
}

}  // namespace dragoman::serving
