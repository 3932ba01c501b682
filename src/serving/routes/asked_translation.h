#pragma once

#include <string>
#include <vector>

#include "serving/http/request_fields.h"
#include "serving/service/serving_context.h"
#include "serving/service/translate_texts.h"
#include "serving/text/language_detector.h"
#include "serving/text/text_plan.h"

namespace dragoman::serving {

/// What LibreTranslate's fields ask for, checked: q, source, target, format, alternatives. Other routes that take the
/// same fields share it.
struct AskedTranslation {
  std::vector<TextPlan> plans;
  std::shared_ptr<const ServedModels> models;
  const ServedModel* model = nullptr;  ///< null when source and target are one language
  bool is_batch = false;               ///< q was an array, and so is the answer
  bool is_auto = false;                ///< the source was to be detected
  DetectedLanguage source;             ///< as served
  size_t alternatives = 0;

  TextsRequest texts_request() const { return {plans, model, models, alternatives}; }
};

/// Reads and checks the fields, and lets the key pass (ServingContext::admit_key).
/// Throws HttpError with LibreTranslate's texts: 400 "Invalid request: missing q parameter", "zz is not supported",
/// "Invalid request: request (6000) exceeds text limit (5000)", 403 "Invalid API key", 429.
AskedTranslation asked_translation(const RequestFields& fields, ServingContext& context);

/// The model between two languages as clients write them; null when they are one. `source` may be "auto": then it is
/// detected in `words` among the languages that lead to the target.
/// @param detected  is set to the source, with confidence 100 unless it was detected
/// Throws HttpError(400): "zz is not supported", "French (fr) is not available as a target language from German (de)".
const ServedModel* model_between(const ServedModels& models, const std::string& source, const std::string& target,
                                 const std::string& words, DetectedLanguage& detected);

/// The value of a field that must be there. Throws HttpError(400): "Invalid request: missing source parameter".
std::string required_text(const RequestFields& fields, const char* name);

}  // namespace dragoman::serving
