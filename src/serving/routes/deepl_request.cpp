#include "serving/routes/deepl_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/ascii.h"
#include "base/error.h"
#include "base/utf8.h"
#include "serving/routes/deepl_glossary.h"

namespace dragoman::serving {
namespace {

[[noreturn]] void bad_value(std::string_view name) {
  bad_request(fmt::format("Value for '{}' not supported.", name));
}

// Reads a field that must be one of these words or missing.
std::string one_of(const RequestFields& fields, const char* name, std::initializer_list<std::string_view> words) {
  const std::string value = fields.text(name);
  if (!value.empty() && std::ranges::find(words, value) == words.end()) {
    bad_value(name);
  }
  return value;
}

void refuse_what_is_not_there(const RequestFields& fields) {
  for (const char* name : {"style_id", "translation_memory_id", "custom_instructions"}) {
    if (is_given(fields, name)) {
      bad_request(fmt::format("Parameter '{}' is not supported by this server.", name));
    }
  }
  const std::string formality = one_of(fields, "formality", {"default", "more", "less", "prefer_more", "prefer_less"});
  if (formality == "more" || formality == "less") {
    bad_request("'formality' is not supported for given 'target_lang'.");
  }
}

// Reads names of elements. HTML ignores their case.
std::vector<std::string> element_names(const RequestFields& fields, const char* name, bool is_xml) {
  std::vector<std::string> names = fields.listed_texts(name);
  for (std::string& one : names) {
    one = is_xml ? one : base::ascii_lower_case(one);
  }
  return names;
}

MarkupOptions markup_options(const RequestFields& fields, bool is_xml) {
  return {.is_xml = is_xml,
          .left_alone = element_names(fields, "ignore_tags", is_xml),
          .splitting = element_names(fields, "splitting_tags", is_xml),
          .non_splitting = element_names(fields, "non_splitting_tags", is_xml)};
}

// Joins the lines, so that a sentence over several lines is one line for the model.
std::string joined_lines(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::vector<std::string> texts_asked(const RequestFields& fields, const TextLimits& limits) {
  std::vector<std::string> texts = fields.texts("text");
  if (texts.empty()) {
    bad_request("Parameter 'text' not specified.");
  }
  if (texts.size() > limits.texts) {
    bad_request(fmt::format("Too many texts: {}, at most {} are allowed.", texts.size(), limits.texts));
  }
  for (const std::string& text : texts) {
    if (const size_t characters = base::count_characters(text); characters > limits.characters) {
      bad_request(fmt::format("A text has {} characters, at most {} are allowed.", characters, limits.characters));
    }
  }
  return texts;
}

// How the texts of a request are cut into sentences.
struct Cutting {
  bool is_html = false;
  bool joins_lines = false;
  MarkupOptions markup = {};
  Sentences sentences = Sentences::kApart;

  TextPlan plan(const std::string& text, Sentences apart, const std::string& language) const {
    if (!is_html) {
      return plan_text(joins_lines ? joined_lines(text) : text, apart, language);
    }
    try {
      return plan_html(text, markup, apart, language);
    } catch (const base::Error& error) {  // XML that is not well-formed
      bad_request(error.what());
    }
  }
};

Cutting cutting_asked(DeeplRequest& request, const RequestFields& fields, const TextLimits& limits) {
  const std::string markup = one_of(fields, "tag_handling", {"xml", "html"});
  const std::string version = one_of(fields, "tag_handling_version", {"v1", "v2"});
  request.tag_handling_version = markup.empty() ? "" : version.empty() ? "v2" : version;
  const std::string split = one_of(fields, "split_sentences", {"0", "1", "nonewlines", "default"});
  return {.is_html = !markup.empty(),
          .joins_lines = split == "0" || split == "nonewlines",
          .markup = markup_options(fields, markup == "xml"),
          .sentences = split == "0" ? Sentences::kTogether : limits.sentences};
}

// Codes are checked before a model is searched, so that the message names the right field.
void check_languages(const RequestFields& fields, const ServedModels& models) {
  const std::string target = fields.text("target_lang");
  const std::string source = fields.text("source_lang");
  const std::vector<std::string>& languages = models.languages();
  if (target.empty()) {
    bad_request("Parameter 'target_lang' not specified.");
  }
  if (models::match_language(target, languages).empty()) {
    bad_value("target_lang");
  }
  if (!source.empty() && models::match_language(source, languages).empty()) {
    bad_value("source_lang");
  }
}

// Chooses the model of each text and plans the text by the rules of its language. A language that is not given is
// detected text by text. A text in which none is found has the language of the whole batch.
void plan_texts(DeeplRequest& request, const RequestFields& fields, const std::vector<std::string>& texts,
                const Cutting& cutting) {
  const std::string source = fields.text("source_lang");
  const std::string target = fields.text("target_lang");
  const auto model_of = [&](const std::string& words, DetectedLanguage& detected) {
    return model_between(*request.models, source.empty() ? std::string(kDetected) : source, target, words, detected);
  };
  std::vector<std::string> words(texts.size());
  std::string all_words;
  for (size_t i = 0; source.empty() && i < texts.size(); ++i) {
    words[i] = words_of(cutting.plan(texts[i], Sentences::kTogether, {}));
    all_words += words[i];
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    DetectedLanguage detected;
    ServedPair pair = model_of(words[i], detected);
    if (detected.confidence == 0.0) {
      pair = model_of(all_words, detected);
    }
    request.texts.push_back({cutting.plan(texts[i], cutting.sentences, detected.code), pair.model, pair.tokens});
    request.sources.push_back({base::ascii_upper_case(source.empty() ? detected.code : source),
                               static_cast<int64_t>(base::count_characters(texts[i]))});
  }
}

}  // namespace

DeeplRequest deepl_request(const Request& from, const RequestFields& fields, ServingContext& context) {
  DeeplRequest request;
  request.models = context.models.get();
  const std::vector<std::string> texts = texts_asked(fields, context.limits);
  const Cutting cutting = cutting_asked(request, fields, context.limits);
  refuse_what_is_not_there(fields);
  check_languages(fields, *request.models);
  request.terms = asked_terms(fields, context, glossary_owner(context, from));
  plan_texts(request, fields, texts, cutting);
  const bool samples = std::ranges::any_of(
      request.texts, [](const TextToTranslate& text) { return text.model != nullptr && text.model->search.samples(); });
  if (request.terms != nullptr && samples) {
    bad_request("Glossaries need a search without sampling; this server samples.");
  }
  static_cast<void>(fields.text("context"));   // checked, but no model reads it
  fields.truth("preserve_formatting", false);  // checked, but no model changes the formatting
  request.show_billed_characters = fields.truth("show_billed_characters", false);
  request.model_type =
      one_of(fields, "model_type", {"quality_optimized", "prefer_quality_optimized", "latency_optimized"});
  if (constexpr std::string_view kPrefer = "prefer_"; request.model_type.starts_with(kPrefer)) {
    request.model_type.erase(0, kPrefer.size());
  }
  return request;
}

}  // namespace dragoman::serving
