#include "serving/routes/page_settings.h"

#include <nlohmann/json.hpp>

namespace dragoman::serving {

using nlohmann::json;

json page_settings(const ServingContext& context) {
  json language_models = json::array();
  const auto models = context.models.get();
  for (const ServedLanguageModel& model : models->language_models()) {
    language_models.push_back({{"id", model.id}, {"context", model.generator->context()}});
  }
  json encoders = json::array();
  for (const ServedEncoder& model : models->encoders()) {
    encoders.push_back({{"id", model.id},
                        {"context", model.config().max_positions},
                        {"head", base::name_of(model.config().head)},
                        {"labels", model.labeler->labels().names()},
                        {"mask", model.labeler->mask_piece()}});
  }
  const bool needs_key = context.keys.get() != nullptr;
  return {{"charLimit", context.limits.characters},
          {"apiKeys", needs_key},
          {"keyRequired", needs_key},
          {"languageModels", std::move(language_models)},
          {"encoders", std::move(encoders)}};
}

void add_page_settings(Router& router, const ServingContext& context) {
  router.add("GET", "/frontend/settings", ErrorShape::kLibreTranslate,
             [&context](const Request&) { return json_reply(page_settings(context)); });
}

}  // namespace dragoman::serving
