#include "serving/routes/asked_translation.h"
#include "base/utf8.h"

#include <fmt/format.h>

#include <algorithm>

namespace dragoman::serving {
namespace {

// CR LF and CR become LF: browsers write CR LF in forms.
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

std::vector<std::string> texts_asked(const RequestFields& fields, const TextLimits& limits, bool& is_batch) {
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
    if (const size_t characters = base::count_characters(text); characters > limits.characters) {
      bad_request(fmt::format("Invalid request: request ({}) exceeds text limit ({})", characters, limits.characters));
    }
  }
  return texts;
}

size_t alternatives_asked(const RequestFields& fields, const TextLimits& limits) {
  const int64_t alternatives = std::max<int64_t>(fields.number("alternatives", 0), 0);
  if (alternatives > static_cast<int64_t>(limits.alternatives)) {
    bad_request(fmt::format("Invalid request: alternatives parameter must be <= {}", limits.alternatives));
  }
  return static_cast<size_t>(alternatives);
}

// Returns all languages with a model to the target, and the target.
std::vector<std::string> languages_towards(const ServedModels& models, const std::string& target) {
  std::vector<std::string> codes = models.sources_of(target);
  codes.push_back(target);
  return codes;
}

}  // namespace

std::string required_text(const RequestFields& fields, const char* name) {
  std::string value = fields.text(name);
  if (value.empty()) {
    bad_request(fmt::format("Invalid request: missing {} parameter", name));
  }
  return value;
}

ServedPair model_between(const ServedModels& models, const std::string& source, const std::string& target,
                         const std::string& words, DetectedLanguage& detected) {
  const std::vector<std::string>& languages = models.languages();
  const std::string to = models::match_language(target, languages);
  const bool is_auto = source == kDetected;
  const std::string from = is_auto ? std::string() : models::match_language(source, languages);
  if (to.empty() || (!is_auto && from.empty())) {
    bad_request(fmt::format("{} is not supported", !is_auto && from.empty() ? source : target));
  }
  constexpr double kSure = 100.0;
  detected = is_auto ? detect_language(words, languages_towards(models, to)).front() : DetectedLanguage{from, kSure};
  if (detected.code == to) {
    return {};
  }
  const ServedPair pair = models.find(detected.code, to);
  if (pair.model == nullptr) {
    bad_request(fmt::format("{} ({}) is not available as a target language from {} ({})", language_name(to), to,
                            language_name(detected.code), detected.code));
  }
  return pair;
}

TextsRequest AskedTranslation::texts_request() const {
  TextsRequest request{.models = models, .alternatives = alternatives};
  for (const TextPlan& plan : plans) {
    request.texts.push_back({plan, pair.model, pair.tokens});
  }
  return request;
}

AskedTranslation asked_translation(const RequestFields& fields, ServingContext& context) {
  AskedTranslation asked;
  const std::vector<std::string> texts = texts_asked(fields, context.limits, asked.is_batch);
  const std::string source = required_text(fields, "source");
  const std::string target = required_text(fields, "target");
  asked.alternatives = alternatives_asked(fields, context.limits);
  const std::string format = fields.text("format");
  if (!format.empty() && format != "text" && format != "html") {
    bad_request(fmt::format("{} format is not supported", format));
  }
  const bool is_html = format == "html";
  const auto plan = [&](const std::string& text, Sentences sentences) {
    return is_html ? plan_html(text, {}, sentences, asked.source.code) : plan_text(text, sentences, asked.source.code);
  };
  asked.is_auto = source == kDetected;
  std::string words;
  size_t characters = 0;
  for (const std::string& text : texts) {
    words += asked.is_auto ? words_of(plan(text, Sentences::kTogether)) : "";
    characters += base::count_characters(text);
  }
  asked.models = context.models.get();
  asked.pair = model_between(*asked.models, source, target, words, asked.source);
  for (const std::string& text : texts) {
    asked.plans.push_back(plan(text, context.limits.sentences));
  }
  context.admit_key(fields.text("api_key"), static_cast<int64_t>(characters));
  return asked;
}

}  // namespace dragoman::serving
