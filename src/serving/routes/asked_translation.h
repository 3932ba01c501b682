#pragma once

#include <string>
#include <vector>

#include "serving/http/request_fields.h"
#include "serving/service/serving_context.h"
#include "serving/service/translate_texts.h"
#include "serving/text/language_detector.h"
#include "serving/text/text_plan.h"

namespace dragoman::serving {

/// A checked request with LibreTranslate's fields: q, source, target, format, alternatives. All routes that take these
/// fields share it.
struct AskedTranslation {
  std::vector<TextPlan> plans;
  std::shared_ptr<const ServedModels> models;
  ServedPair pair;          ///< without a model if source and target are one language
  bool is_batch = false;    ///< q is an array, so the answer is one too
  bool is_auto = false;     ///< the source language was detected
  DetectedLanguage source;  ///< the code under which it is served
  size_t alternatives = 0;

  TextsRequest texts_request() const;
};

/// The source language that stands for detection.
inline constexpr std::string_view kDetected = "auto";

/// Reads and checks the fields, and checks the key (ServingContext::admit_key).
/// Throws: HttpError with LibreTranslate's texts: 400 "Invalid request: missing q parameter", "zz is not supported",
///         "Invalid request: request (6000) exceeds text limit (5000)", 403 "Invalid API key", 429.
[[nodiscard]] AskedTranslation asked_translation(const RequestFields& fields, ServingContext& context);

/// Returns the model between two languages, as clients write them; none if they are one language. If `source` is
/// kDetected, the language of `words` is detected among the languages that have a model to the target.
/// Throws: HttpError(400): "zz is not supported", "French (fr) is not available as a target language from German (de)".
/// @param detected  is set to the source; its confidence is 100 unless it was detected
[[nodiscard]] ServedPair model_between(const ServedModels& models, const std::string& source, const std::string& target,
                                       const std::string& words, DetectedLanguage& detected);

/// Returns the value of a required field. Throws: HttpError(400): "Invalid request: missing source parameter".
[[nodiscard]] std::string required_text(const RequestFields& fields, const char* name);

}  // namespace dragoman::serving
