#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serving/http/http_message.h"
#include "serving/service/serving_context.h"
#include "serving/text/text_plan.h"

namespace dragoman::serving {

/// A text and the model that translates it.
struct TextToTranslate {
  TextPlan plan;
  const ServedModel* model = nullptr;  ///< null = source and target are one language: the text stays unchanged
  decoding::LanguageTokens languages = {};
};

/// The texts of one request and the options for their translation.
struct TextsRequest {
  std::vector<TextToTranslate> texts = {};
  std::shared_ptr<const ServedModels> models = {};
  size_t alternatives = 0;                                ///< of each text
  int beam_size = 0;                                      ///< 0 = the default of the model
  std::shared_ptr<const decoding::TermTable> terms = {};  ///< demanded of each line, see TranslationJob
  /// See TranslationJob. `line` counts the lines of all texts that have a model.
  std::function<bool(size_t line, const decoding::StreamedToken&)> on_token = {};
  /// Called when the request is admitted, before the first token. May be empty.
  std::function<void()> on_admitted = {};
};

/// The translation of one text.
struct TranslatedText {
  std::string text;
  std::vector<std::string> alternatives;
};

/// Returns the texts, made from the translations of all lines of those that have a model, in order. A text has at most
/// `alternatives` next best ones. None of them is blank, and no two are equal.
[[nodiscard]] std::vector<TranslatedText> translated_texts(const std::vector<TextToTranslate>& asked,
                                                           std::vector<decoding::Translation> lines,
                                                           size_t alternatives);

/// Called once, with a result for each text or with the error. It may be called before `translate_texts` returns.
using TextsDone = std::function<void(std::vector<TranslatedText> texts, std::exception_ptr error)>;

/// Translates texts in the batch that all requests share. If `exchange` is cancelled, the translation is cancelled.
/// Throws: HttpError(503): "The server is busy, try again", if the queue is full.
void translate_texts(ServingContext& context, const HttpExchange& exchange, TextsRequest request, TextsDone done);

}  // namespace dragoman::serving
