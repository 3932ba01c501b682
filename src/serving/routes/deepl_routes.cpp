#include "serving/routes/deepl_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "base/ascii.h"
#include "serving/routes/deepl_access.h"
#include "serving/routes/deepl_request.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

constexpr ErrorShape kDeeplShape = ErrorShape::kDeepl;
// The limit in DeepL's answers if there is no limit.
constexpr int64_t kUnlimited = 1'000'000'000'000;

json answer_of(const DeeplRequest& request, const std::vector<TranslatedText>& texts) {
  json translations = json::array();
  for (size_t i = 0; i < texts.size(); ++i) {
    json one = {{"detected_source_language", request.sources[i].language}, {"text", texts[i].text}};
    if (request.show_billed_characters) {
      one["billed_characters"] = request.sources[i].characters;
    }
    if (!request.model_type.empty()) {
      one["model_type_used"] = request.model_type;
    }
    if (!request.tag_handling_version.empty()) {
      one["tag_handling_version"] = request.tag_handling_version;
    }
    translations.push_back(std::move(one));
  }
  return {{"translations", translations}};
}

void translate_deepl(ServingContext& context, const std::shared_ptr<HttpExchange>& exchange) {
  const auto request = std::make_shared<const DeeplRequest>(
      deepl_request(exchange->request(), RequestFields(exchange->request()), context));
  int64_t characters = 0;
  for (const DeeplRequest::Source& source : request->sources) {
    characters += source.characters;
  }
  admit_deepl(context, exchange->request(), characters);
  translate_texts(context, *exchange, {.texts = request->texts, .models = request->models, .terms = request->terms},
                  [exchange, request](const std::vector<TranslatedText>& texts, const std::exception_ptr& error) {
                    exchange->reply(traced(error == nullptr ? json_reply(answer_of(*request, texts))
                                                            : error_reply(kDeeplShape, error)));
                  });
}

Reply list_languages(const Request& request, ServingContext& context) {
  admit_deepl(context, request, 0);
  const std::string type = RequestFields(request).text("type");
  if (!type.empty() && type != "source" && type != "target") {
    bad_request("Value for 'type' not supported.");
  }
  const auto models = context.models.get();
  json answer = json::array();
  for (const std::string& code : type == "target" ? models->targets() : models->sources()) {
    json one = {{"language", base::ascii_upper_case(code)}, {"name", language_name(code)}};
    if (type == "target") {
      one["supports_formality"] = false;
    }
    answer.push_back(std::move(one));
  }
  return json_reply(answer);
}

Reply list_languages_3(const Request& request, ServingContext& context) {
  admit_deepl(context, request, 0);
  const std::string resource = RequestFields(request).text("resource");
  if (resource != "translate_text" && resource != "glossary") {
    bad_request("Value for 'resource' not supported.");
  }
  const auto models = context.models.get();
  const auto holds = [](const std::vector<std::string>& codes, const std::string& code) {
    return std::ranges::find(codes, code) != codes.end();
  };
  json answer = json::array();
  if (resource == "glossary" && context.glossaries == nullptr) {
    return json_reply(answer);
  }
  const json features = context.glossaries == nullptr ? json::object() : json({{"glossary", {{"status", "stable"}}}});
  for (const std::string& code : models->languages()) {
    answer.push_back({{"lang", code},
                      {"name", language_name(code)},
                      {"usable_as_source", holds(models->sources(), code)},
                      {"usable_as_target", holds(models->targets(), code)},
                      {"features", resource == "glossary" ? json::object() : features},
                      {"status", "stable"}});
  }
  return json_reply(answer);
}

Reply usage(const Request& request, ServingContext& context) {
  admit_deepl(context, request, 0);
  const auto keys = context.keys.get();
  const int64_t count = keys == nullptr ? context.characters.load() : keys->characters_of(deepl_key(request));
  return json_reply({{"character_count", count}, {"character_limit", kUnlimited}});
}

}  // namespace

void add_deepl_routes(Router& router, ServingContext& context) {
  router.add_later("POST", "/v2/translate", kDeeplShape,
                   [&context](const std::shared_ptr<HttpExchange>& exchange) { translate_deepl(context, exchange); });
  const auto add = [&](const std::string& path, Reply (*answer)(const Request&, ServingContext&)) {
    router.add("GET", path, kDeeplShape,
               [&context, answer](const Request& request) { return traced(answer(request, context)); });
  };
  add("/v2/languages", list_languages);
  add("/v3/languages", list_languages_3);
  add("/v2/usage", usage);
}

}  // namespace dragoman::serving
