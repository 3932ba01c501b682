#include "serving/routes/deepl_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/ascii.h"
#include "base/error.h"
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

// Reads names of elements: an array, several values of a form, or one text with commas. HTML ignores their case.
std::vector<std::string> element_names(const RequestFields& fields, const char* name, bool is_xml) {
  std::vector<std::string> names;
  for (const std::string& value : fields.texts(name)) {
    for (std::string_view rest = value; !rest.empty();) {
      const std::string_view one = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(one.size() + 1, rest.size()));
      names.push_back(is_xml ? std::string(one) : base::ascii_lower_case(one));
    }
  }
  return names;
}

MarkupOptions markup_options(const RequestFields& fields, bool is_xml) {
  return {.is_xml = is_xml,
          .left_alone = element_names(fields, "ignore_tags", is_xml),
          .splitting = element_names(fields, "splitting_tags", is_xml),
          .non_splitting = element_names(fields, "non_splitting_tags", is_xml)};
}

// Plans the translation of a text with markup.
TextPlan plan_markup(const std::string& text, const MarkupOptions& options, Sentences sentences) {
  try {
    return plan_html(text, options, sentences);
  } catch (const base::Error& error) {
    bad_request(error.what());
  }
}

// Joins the lines, so that a sentence over several lines is one line for the model.
std::string joined_lines(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

void plan_texts(DeeplRequest& request, const RequestFields& fields, const TextLimits& limits) {
  const std::vector<std::string> texts = fields.texts("text");
  if (texts.empty()) {
    bad_request("Parameter 'text' not specified.");
  }
  if (texts.size() > limits.texts) {
    bad_request(fmt::format("Too many texts: {}, at most {} are allowed.", texts.size(), limits.texts));
  }
  const std::string markup = one_of(fields, "tag_handling", {"xml", "html"});
  const bool is_html = !markup.empty();
  const std::string version = one_of(fields, "tag_handling_version", {"v1", "v2"});
  request.tag_handling_version = is_html ? (version.empty() ? "v2" : version) : "";
  const std::string split = one_of(fields, "split_sentences", {"0", "1", "nonewlines", "default"});
  const bool joins = split == "0" || split == "nonewlines";
  const Sentences sentences = split == "0" ? Sentences::kTogether : limits.sentences;
  const MarkupOptions options = markup_options(fields, markup == "xml");
  for (const std::string& text : texts) {
    const size_t characters = count_characters(text);
    if (characters > limits.characters) {
      bad_request(fmt::format("A text has {} characters, at most {} are allowed.", characters, limits.characters));
    }
    request.characters.push_back(static_cast<int64_t>(characters));
    request.plans.push_back(is_html ? plan_markup(text, options, sentences)
                                    : plan_text(joins ? joined_lines(text) : text, sentences));
  }
}

// Codes are checked before a model is searched, so that the message names the right field.
void choose_model(DeeplRequest& request, const RequestFields& fields) {
  const std::string target = fields.text("target_lang");
  const std::string source = fields.text("source_lang");
  const std::vector<std::string> languages = request.models->languages();
  if (target.empty()) {
    bad_request("Parameter 'target_lang' not specified.");
  }
  if (ServedModels::match(target, languages).empty()) {
    bad_value("target_lang");
  }
  if (!source.empty() && ServedModels::match(source, languages).empty()) {
    bad_value("source_lang");
  }
  std::string words;
  for (const TextPlan& plan : request.plans) {
    words += words_of(plan);
  }
  DetectedLanguage detected;
  request.model = model_between(*request.models, source.empty() ? "auto" : source, target, words, detected);
  request.source = source.empty() ? base::ascii_upper_case(detected.code) : base::ascii_upper_case(source);
}

}  // namespace

DeeplRequest deepl_request(const Request& from, const RequestFields& fields, ServingContext& context) {
  DeeplRequest request;
  request.models = context.models.get();
  plan_texts(request, fields, context.limits);
  refuse_what_is_not_there(fields);
  choose_model(request, fields);
  request.terms = asked_terms(fields, context, glossary_owner(context, from));
  if (request.terms != nullptr && request.model != nullptr && request.model->search.samples()) {
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
