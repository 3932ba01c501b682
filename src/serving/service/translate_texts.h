#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serving/http/http_message.h"
#include "serving/service/serving_context.h"
#include "serving/text/text_plan.h"

namespace dragoman::serving {

/// Texts of one request, and how they are to be translated.
struct TextsRequest {
  std::vector<TextPlan> plans;
  const ServedModel* model = nullptr;  ///< null = source and target are one language: texts come back as they are
  std::shared_ptr<const ServedModels> models;
  size_t alternatives = 0;  ///< of each text
  int beam_size = 0;        ///< 0 = the model's own
  /// See TranslationJob; lines are those of the plans, counted through.
  std::function<bool(size_t line, const decoding::StreamedToken&)> on_token = {};
  /// Called once it is sure that the request will be worked on, before the first token. May be empty.
  std::function<void()> on_admitted = {};
};

/// One text translated.
struct TranslatedText {
  std::string text;
  std::vector<std::string> alternatives;
};

/// Called once, with a result for each text or with the error. May be called before translate_texts returns.
using TextsDone = std::function<void(std::vector<TranslatedText> texts, std::exception_ptr error)>;

/// Translates texts together with those of other requests. They are cancelled when `exchange` is.
/// Throws HttpError(503) when the server has too much to do.
void translate_texts(ServingContext& context, const Exchange& exchange, TextsRequest request, TextsDone done);

}  // namespace dragoman::serving
