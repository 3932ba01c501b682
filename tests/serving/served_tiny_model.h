#pragma once

#include "decoding/tiny_languages.h"
#include "decoding/tiny_model.h"
#include "decoding/tiny_vocabulary.h"
#include "serving/service/served_models.h"

namespace dragoman::serving {

/// Returns a random model that translates words of tests/decoding/tiny_vocabulary.h into such words.
inline std::shared_ptr<const decoding::Translator> tiny_translator(uint64_t seed = 1) {
  const data::Vocabulary& vocabulary = decoding::vocabulary();
  return std::make_shared<decoding::Translator>(decoding::tiny_model(nn::NormOrder::kPre, seed, vocabulary.size()),
                                                vocabulary, vocabulary,
                                                decoding::TranslatorSetup{.threads = {.workers = 2}});
}

/// Returns a model that translates between German, English, French and two kinds of Chinese.
inline std::shared_ptr<const ServedModels> served_many_model() {
  auto translator = decoding::many_translator();
  models::ModelLanguages languages = translator->languages();
  std::vector<ServedModel> models;
  models.push_back({.languages = std::move(languages),
                    .folder = "many",
                    .sha256 = "0",
                    .translator = std::move(translator),
                    .search = {}});
  return std::make_shared<ServedModels>(std::move(models));
}

/// Returns one such model for each pair.
inline std::shared_ptr<const ServedModels> served_tiny_models(const std::vector<LanguagePair>& pairs) {
  std::vector<ServedModel> models;
  for (const LanguagePair& pair : pairs) {
    models.push_back({.languages = languages_of(pair),
                      .folder = "tiny",
                      .sha256 = "0",
                      .translator = tiny_translator(models.size() + 1),
                      .search = {}});
  }
  return std::make_shared<ServedModels>(std::move(models));
}

}  // namespace dragoman::serving
