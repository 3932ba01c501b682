#include "serving/routes/libretranslate_routes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "serving/routes/asked_translation.h"
#include "serving/routes/page_settings.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

constexpr ErrorShape kLibreShape = ErrorShape::kLibreTranslate;

json detection_of(const DetectedLanguage& detected) {
  return {{"confidence", detected.confidence}, {"language", detected.code}};
}

json answer_of(const AskedTranslation& asked, const std::vector<TranslatedText>& texts) {
  json translated = json::array();
  json alternatives = json::array();
  json detected = json::array();
  for (const TranslatedText& text : texts) {
    translated.push_back(text.text);
    alternatives.push_back(text.alternatives);
    detected.push_back(detection_of(asked.source));
  }
  const auto one_or_all = [&](json& values) { return asked.is_batch ? std::move(values) : std::move(values.front()); };
  json answer = {{"translatedText", one_or_all(translated)}};
  if (asked.is_auto) {
    answer["detectedLanguage"] = one_or_all(detected);
  }
  if (asked.alternatives > 0) {
    answer["alternatives"] = one_or_all(alternatives);
  }
  return answer;
}

void translate(ServingContext& context, const std::shared_ptr<HttpExchange>& exchange) {
  const auto asked =
      std::make_shared<const AskedTranslation>(asked_translation(RequestFields(exchange->request()), context));
  translate_texts(
      context, *exchange, asked->texts_request(),
      [exchange, asked](const std::vector<TranslatedText>& texts, const std::exception_ptr& error) {
        exchange->reply(error == nullptr ? json_reply(answer_of(*asked, texts)) : error_reply(kLibreShape, error));
      });
}

Reply languages(const ServedModels& models) {
  json answer = json::array();
  for (const std::string& code : models.languages()) {
    json targets = models.targets_of(code);
    targets.push_back(code);
    answer.push_back({{"code", code}, {"name", language_name(code)}, {"targets", targets}});
  }
  return json_reply(answer);
}

Reply detect(const Request& request, ServingContext& context) {
  const RequestFields fields(request);
  const std::string text = required_text(fields, "q");
  const size_t characters = base::count_characters(text);
  if (characters > context.limits.characters) {
    bad_request("Invalid request: the text is too long");
  }
  context.admit_key(fields.text("api_key"), 0);
  json answer = json::array();
  for (const DetectedLanguage& detected : detect_language(text, context.models.get()->languages())) {
    answer.push_back(detection_of(detected));
  }
  return json_reply(answer);
}

// English is the first choice among many languages, whose order says nothing.
std::string first_target(const ServedModels& models) {
  const std::vector<std::string>& targets = models.targets();
  const bool has_english = std::ranges::find(targets, "en") != targets.end();
  return has_english && models.all().front().languages.has_codes() ? "en" : targets.front();
}

Reply settings(const ServingContext& context) {
  const auto models = context.models.get();
  const std::string target = first_target(*models);
  constexpr int kPageWaits = 500;  // milliseconds that LibreTranslate's page waits
  json answer = page_settings(context);
  answer.update({{"frontendTimeout", kPageWaits},
                 {"suggestions", false},
                 {"filesTranslation", true},
                 {"supportedFilesFormat", {".txt"}},
                 {"language",
                  {{"source", {{"code", "auto"}, {"name", "Auto Detect"}}},
                   {"target", {{"code", target}, {"name", language_name(target)}}}}}});
  return json_reply(answer);
}

}  // namespace

void add_libretranslate_routes(Router& router, ServingContext& context) {
  router.add_later("POST", "/translate", kLibreShape,
                   [&context](const std::shared_ptr<HttpExchange>& exchange) { translate(context, exchange); });
  router.add("GET", "/languages", kLibreShape, [&context](const Request&) { return languages(*context.models.get()); });
  router.add("POST", "/detect", kLibreShape, [&context](const Request& request) { return detect(request, context); });
  router.add("GET", "/frontend/settings", kLibreShape, [&context](const Request&) { return settings(context); });
  router.add("POST", "/suggest", kLibreShape, [](const Request&) -> Reply {
    throw HttpError(status::kForbidden, "Suggestions are disabled on this server.");
  });
}

}  // namespace dragoman::serving
