#include "serving/libretranslate_routes.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "serving/request_fields.h"
#include "serving/translate_texts.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

constexpr ErrorShape kLibreShape = ErrorShape::kLibreTranslate;
std::string required(const RequestFields& fields, const char* name) {
  std::string value = fields.text(name);
  if (value.empty()) {
    bad_request(fmt::format("Invalid request: missing {} parameter", name));
  }
  return value;
}

// CR LF and CR become LF: the line ends of forms, which browsers write so.
std::string with_plain_line_ends(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      plain += text[i];
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      plain += '\n';
    }
  }
  return plain;
}

// What /translate asks for, checked.
struct Asked {
  std::vector<std::string> texts;
  bool is_batch = false;
  bool is_html = false;
  bool is_auto = false;
  std::string source;  // as served
  std::string target;
  int64_t alternatives = 0;
};

std::vector<std::string> texts_of(const RequestFields& fields, const TextLimits& limits, bool& is_batch) {
  is_batch = fields.is_json() && fields["q"].is_array();
  std::vector<std::string> texts = is_batch ? fields.texts("q") : std::vector{fields.text("q")};
  if (texts.empty() || (!is_batch && texts.front().empty())) {
    bad_request("Invalid request: missing q parameter");
  }
  if (texts.size() > limits.texts) {
    bad_request(fmt::format("Invalid request: request ({}) exceeds text limit ({})", texts.size(), limits.texts));
  }
  for (std::string& text : texts) {
    text = fields.is_json() ? text : with_plain_line_ends(text);
    if (const size_t characters = count_characters(text); characters > limits.characters) {
      bad_request(fmt::format("Invalid request: request ({}) exceeds text limit ({})", characters, limits.characters));
    }
  }
  return texts;
}

Asked asked_of(const Request& request, const ServingContext& context, const ServedModels& models) {
  const RequestFields fields(request);
  Asked asked;
  asked.texts = texts_of(fields, context.limits, asked.is_batch);
  const std::string source = required(fields, "source");
  const std::string target = required(fields, "target");
  asked.alternatives = std::max<int64_t>(fields.number("alternatives", 0), 0);
  if (asked.alternatives > static_cast<int64_t>(context.limits.alternatives)) {
    bad_request(fmt::format("Invalid request: alternatives parameter must be <= {}", context.limits.alternatives));
  }
  asked.is_auto = source == "auto";
  asked.source = asked.is_auto ? models.sources().front() : ServedModels::match(source, models.languages());
  asked.target = ServedModels::match(target, models.languages());
  if (asked.source.empty() || asked.target.empty()) {
    bad_request(fmt::format("{} is not supported", asked.source.empty() ? source : target));
  }
  const std::string format = fields.text("format");
  if (!format.empty() && format != "text" && format != "html") {
    bad_request(fmt::format("{} format is not supported", format));
  }
  asked.is_html = format == "html";
  return asked;
}

const ServedModel* model_of(const Asked& asked, const ServedModels& models) {
  if (asked.source == asked.target) {
    return nullptr;
  }
  const ServedModel* model = models.find(asked.source, asked.target);
  if (model == nullptr) {
    bad_request(fmt::format("{} ({}) is not available as a target language from {} ({})", language_name(asked.target),
                       asked.target, language_name(asked.source), asked.source));
  }
  return model;
}

json answer_of(const Asked& asked, const std::vector<TranslatedText>& texts) {
  json translated = json::array();
  json alternatives = json::array();
  json detected = json::array();
  for (const TranslatedText& text : texts) {
    translated.push_back(text.text);
    alternatives.push_back(text.alternatives);
    detected.push_back({{"confidence", 100.0}, {"language", asked.source}});
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

void translate(ServingContext& context, const std::shared_ptr<Exchange>& exchange) {
  const auto models = context.models.get();
  Asked asked = asked_of(exchange->request(), context, *models);
  TextsRequest request{.plans = {},
                       .model = model_of(asked, *models),
                       .models = models,
                       .alternatives = static_cast<size_t>(asked.alternatives)};
  for (const std::string& text : asked.texts) {
    request.plans.push_back(asked.is_html ? plan_html(text) : plan_text(text));
  }
  translate_texts(context, *exchange, std::move(request),
                  [exchange, asked = std::move(asked)](const std::vector<TranslatedText>& texts,
                                                       const std::exception_ptr& error) {
                    exchange->reply(error == nullptr ? json_reply(answer_of(asked, texts)) : error_reply(kLibreShape, error));
                  });
}

Reply languages(const ServingContext& context) {
  const auto models = context.models.get();
  json answer = json::array();
  for (const std::string& code : models->languages()) {
    json targets = json::array();
    for (const ServedModel& model : models->all()) {
      if (model.pair.source == code) {
        targets.push_back(model.pair.target);
      }
    }
    targets.push_back(code);
    answer.push_back({{"code", code}, {"name", language_name(code)}, {"targets", targets}});
  }
  return json_reply(answer);
}

}  // namespace

void add_libretranslate_routes(Router& router, ServingContext& context) {
  router.add_later("POST", "/translate", kLibreShape, [&context](const std::shared_ptr<Exchange>& exchange) {
    translate(context, exchange);
  });
  router.add("GET", "/languages", kLibreShape, [&context](const Request&) { return languages(context); });
}

}  // namespace dragoman::serving
