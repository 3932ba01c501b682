#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decoding/translator.h"
#include "kernels/precision.h"
#include "serving/service/served_encoder.h"
#include "serving/service/served_language_model.h"
#include "serving/text/languages.h"

namespace dragoman::serving {

/// A model to serve: its languages and its folder.
struct ModelSpec {
  LanguagePair pair;
  std::filesystem::path folder;
};

/// Reads the value of `--model`: "en:de=DIR", or "DIR" for a folder with languages.json. For "DIR" the pair is empty;
/// the languages are read when the model is loaded.
/// Throws: Error(kUsage): "--model: "xxxx" is no language code; codes are like en, pt-BR, zh-Hans", "--model: source
///         and target are both en".
[[nodiscard]] ModelSpec model_spec_from(const std::string& text);

/// A loaded model with everything that the routes need of it.
struct ServedModel {
  models::ModelLanguages languages;  ///< one pair, or each source with each other target
  std::filesystem::path folder;
  std::string sha256;  ///< of its weights, from the manifest
  std::shared_ptr<const decoding::Translator> translator;
  decoding::SearchOptions search;  ///< checked; the default of a request
  std::string card = "{}";         ///< JSON of GET /v1/model, see model_card
  double rate = 0.0;               ///< estimated tokens per second of the warm-up; full batches are faster
};

/// A model for a pair of languages.
struct ServedPair {
  const ServedModel* model = nullptr;  ///< null = there is none
  decoding::LanguageTokens tokens = {};
};

/// Returns the languages of a model of one pair.
[[nodiscard]] models::ModelLanguages languages_of(const LanguagePair& pair);
/// Returns whether the model translates from `source` to `target`, common codes.
[[nodiscard]] bool translates(const ServedModel& model, const std::string& source, const std::string& target);

/// The options for loading models.
struct LoadOptions {
  std::vector<ModelSpec> models;
  std::optional<kernels::Precision> precision = {};  ///< none = as stored in each folder
  decoding::ServiceThreads threads = {};             ///< of each model
  /// Returns the search options of a model from the defaults of its folder.
  std::function<decoding::SearchOptions(const decoding::SearchOptions&)> search = [](const auto& defaults) {
    return defaults;
  };
  /// The first flag of `search` that the user gave, for the message if no served model translates; empty = none.
  std::string search_flag = {};
};

/// The set of models that is served at one time: models that translate, language models and encoders. It is immutable:
/// a reload makes a new set, and each request keeps its set until it is answered.
class ServedModels {
 public:
  /// Loads all models and tries some texts with each. So the memory is warm at the first request, and the speed is
  /// roughly known.
  /// Throws: Error(kBadData) for a folder that cannot be used. Error(kUsage) for two models that are made for one
  ///         language pair, two other models of one name, and options that do not fit a model.
  [[nodiscard]] static std::shared_ptr<const ServedModels> load(const LoadOptions& options);

  explicit ServedModels(std::vector<ServedModel> models, std::vector<ServedLanguageModel> language_models = {},
                        std::vector<ServedEncoder> encoders = {});

  /// Returns the models that translate.
  const std::vector<ServedModel>& all() const { return models_; }
  const std::vector<ServedLanguageModel>& language_models() const { return language_models_; }
  const std::vector<ServedEncoder>& encoders() const { return encoders_; }
  /// Returns the language model of this name, or null if there is none.
  [[nodiscard]] const ServedLanguageModel* find_language_model(std::string_view id) const;
  /// Returns the encoder of this name, or null if there is none.
  [[nodiscard]] const ServedEncoder* find_encoder(std::string_view id) const;
  /// Returns the first model from `source` to `target`. Codes are matched as by models::match_language.
  [[nodiscard]] ServedPair find(std::string_view source, std::string_view target) const;
  /// Returns the source languages, each once, in the order of the models.
  const std::vector<std::string>& sources() const { return sources_; }
  /// Returns the target languages, each once, in the order of the models.
  const std::vector<std::string>& targets() const { return targets_; }
  /// Returns the source and target languages, each once, in the order of the models.
  const std::vector<std::string>& languages() const { return languages_; }
  /// Returns all sources that a model translates to `target`, each once, in the order of the models.
  [[nodiscard]] std::vector<std::string> sources_of(const std::string& target) const;
  /// Returns all targets that a model translates `source` to, each once, in the order of the models.
  [[nodiscard]] std::vector<std::string> targets_of(const std::string& source) const;

 private:
  std::vector<ServedModel> models_;
  std::vector<std::string> sources_, targets_, languages_;
  std::vector<ServedLanguageModel> language_models_;
  std::vector<ServedEncoder> encoders_;
};

}  // namespace dragoman::serving
