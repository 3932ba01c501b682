#include "serving/routes/model_list_routes.h"

#include <nlohmann/json.hpp>

#include "serving/http/request_fields.h"
#include "serving/routes/openai_access.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

constexpr ErrorShape kShape = ErrorShape::kOpenAi;

template <typename Model>
json model_json(const Model& model) {
  return {{"id", model.id}, {"object", "model"}, {"created", model.created}, {"owned_by", "dragoman"}};
}

Reply list_models(const Request& request, ServingContext& context) {
  admit_openai(context, request, 0);
  json list = json::array();
  const auto served = context.models.get();
  for (const ServedLanguageModel& model : served->language_models()) {
    list.push_back(model_json(model));
  }
  for (const ServedEncoder& model : served->encoders()) {
    list.push_back(model_json(model));
  }
  return json_reply({{"object", "list"}, {"data", std::move(list)}});
}

Reply one_model(const Request& request, ServingContext& context) {
  constexpr size_t kModelSegment = 2;
  admit_openai(context, request, 0);
  const auto served = context.models.get();
  const std::string id = percent_decoded(path_segment(request, kModelSegment));
  if (const ServedLanguageModel* model = served->find_language_model(id)) {
    return json_reply(model_json(*model));
  }
  if (const ServedEncoder* model = served->find_encoder(id)) {
    return json_reply(model_json(*model));
  }
  refuse_unknown_model(id);
}

}  // namespace

void add_model_list_routes(Router& router, ServingContext& context) {
  router.add("GET", "/v1/models", kShape, [&context](const Request& request) { return list_models(request, context); });
  router.add("GET", "/v1/models/{model}", kShape,
             [&context](const Request& request) { return one_model(request, context); });
}

}  // namespace dragoman::serving
