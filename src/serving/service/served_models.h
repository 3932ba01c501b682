#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decoding/translator.h"
#include "kernels/precision.h"
#include "serving/text/languages.h"

namespace dragoman::serving {

/// A model to serve, and how.
struct ModelSpec {
  LanguagePair pair;
  std::filesystem::path folder;
};

/// What `--model` says: "en:de=DIR", or "DIR" for a folder that knows its languages (languages.json; they are read when
/// it is loaded, the pair is empty until then). Throws Error(kUsage) for a language that is none, and for source and
/// target alike: "--model: source and target are both en".
ModelSpec model_spec_from(const std::string& text);

/// A model that is served.
struct ServedModel {
  LanguagePair pair;
  std::filesystem::path folder;
  std::string sha256;  ///< of its weights, as the manifest has it
  std::shared_ptr<const decoding::Translator> translator;
  decoding::SearchOptions search;  ///< checked; how it translates when a request says nothing else
  std::string card = "{}";         ///< JSON of GET /v1/model, see model_card
  double rate = 0.0;               ///< estimated_tokens a second of the first texts; with a full batch it is faster
};

/// How models are loaded.
struct LoadOptions {
  std::vector<ModelSpec> models;
  std::optional<kernels::Precision> precision = {};  ///< none: as each folder stores its weights
  /// The search of a model, from the defaults of its folder.
  std::function<decoding::SearchOptions(const decoding::SearchOptions&)> search = [](const auto& defaults) {
    return defaults;
  };
};

/// The models served at one time, by language pair. Never changes: a reload makes another set, and requests under way
/// keep theirs until they are answered.
class ServedModels {
 public:
  /// Loads all, and translates some first texts with each, so that the next finds everything warm and what a second is
  /// enough for is known, roughly.
  /// Throws Error(kBadData) for a folder that cannot be used, Error(kUsage) for a pair that is there twice and for
  /// options that do not fit the model.
  static std::shared_ptr<const ServedModels> load(const LoadOptions& options);

  explicit ServedModels(std::vector<ServedModel> models) : models_(std::move(models)) {}

  const std::vector<ServedModel>& all() const { return models_; }
  /// The model from `source` to `target`, both as clients write them: in any case, long or short (pb for pt-BR); a code
  /// with a country finds the language alone, and the reverse if there is one only. Null if there is none.
  const ServedModel* find(std::string_view source, std::string_view target) const;
  /// Codes, each once, in order of the models: languages that can be translated from, into, and both.
  std::vector<std::string> sources() const;
  std::vector<std::string> targets() const;
  std::vector<std::string> languages() const;
  /// The code under which `asked` is served as one of `codes`; empty if it is not.
  static std::string match(std::string_view asked, const std::vector<std::string>& codes);

 private:
  std::vector<ServedModel> models_;
};

}  // namespace dragoman::serving
