#include "serving/service/served_models.h"

#include <algorithm>
#include <future>

#include "base/checked_folder.h"
#include "base/error.h"
#include "base/published_folder.h"
#include "decoding/load_translator.h"
#include "models/model_folder.h"
#include "serving/service/admission.h"
#include "serving/service/model_card.h"
#include "serving/service/served_folder.h"
#include "serving/service/training_record.h"
#include "serving/service/warm_up.h"

namespace dragoman::serving {
namespace {

void add_once(std::vector<std::string>& codes, const std::string& code) {
  if (std::ranges::find(codes, code) == codes.end()) {
    codes.push_back(code);
  }
}

void add_all_once(std::vector<std::string>& codes, const std::vector<models::ModelLanguage>& languages) {
  for (const models::ModelLanguage& language : languages) {
    add_once(codes, language.code);
  }
}

bool holds(const std::vector<models::ModelLanguage>& languages, const std::string& code) {
  return std::ranges::find(languages, code, &models::ModelLanguage::code) != languages.end();
}

// One pair of many languages.
models::ModelLanguages narrowed(models::ModelLanguages languages, const LanguagePair& pair) {
  std::erase_if(languages.sources, [&](const auto& language) { return language.code != pair.source; });
  std::erase_if(languages.targets, [&](const auto& language) { return language.code != pair.target; });
  return languages;
}

// Whether the model is made for one pair, or served as such.
bool has_one_pair(const ServedModel& model) {
  return model.languages.sources.size() == 1 && model.languages.targets.size() == 1;
}

LanguagePair checked_pair(const LanguagePair& pair, const std::string& place) {
  for (const std::string& code : {pair.source, pair.target}) {
    base::check_usage(is_language_code(code), "{}: \"{}\" is no language code; codes are like en, pt-BR, zh-Hans",
                      place, code);
  }
  LanguagePair tidy{tidy_language(pair.source), tidy_language(pair.target)};
  base::check_usage(tidy.source != tidy.target, "{}: source and target are both {}", place, tidy.source);
  return tidy;
}

// Returns the languages of the option, or those of the folder.
models::ModelLanguages languages_of(const ModelSpec& spec, const decoding::Translator& translator) {
  const models::ModelLanguages& of_folder = translator.languages();
  if (of_folder.has_codes()) {
    return spec.pair.source.empty() ? of_folder : narrowed(of_folder, translator.choose_languages(spec.pair).pair);
  }
  base::check_usage(!spec.pair.source.empty() || !of_folder.targets.empty(),
                    "{}: does not say its languages; name them: --model en:de={}", spec.folder.string(),
                    spec.folder.string());
  return serving::languages_of(
      spec.pair.source.empty() ? checked_pair(of_folder.only_pair(), (spec.folder / models::kLanguagesName).string())
                               : spec.pair);
}

// Models without languages are named after their folders.
models::ModelKind kind_of(const ModelSpec& spec) {
  const models::ModelKind kind = folder_facts(spec.folder).kind;
  base::check_usage(kind == models::ModelKind::kEncoderDecoder || spec.pair.source.empty(),
                    "--model: {} holds {}, which has no languages; write --model {}", spec.folder.string(),
                    kind == models::ModelKind::kEncoder ? "an encoder" : "a language model", spec.folder.string());
  return kind;
}

// Returns the last names of the folder. Clients must not see the whole path. A folder with a common name also shows its
// parent: "quickstart/model".
std::string card_name(const std::filesystem::path& folder) {
  const std::filesystem::path path = std::filesystem::weakly_canonical(folder);
  const std::string name = path.filename().string();
  return name == "model" ? (path.parent_path().filename() / name).string() : name;
}

void check_search(const ServedModel& model) {
  try {
    model.translator->check(model.search);
  } catch (const base::Error& error) {
    base::fail(error.kind(), "{}: {}", model.folder.string(), error.what());
  }
}

// Tokens per second, measured with texts that have no words of a language.
double speed_of(const ServedModel& model) {
  const std::string text = "1 2 3 4 5 6 7 8 9";
  return warm_up([&] {
    auto translation =
        std::make_shared<std::future<decoding::Translation>>(model.translator->submit({.text = text}, model.search));
    return std::async(std::launch::deferred, [translation, tokens = static_cast<size_t>(estimated_tokens(text))] {
      translation->get();
      return tokens;
    });
  });
}

// Reads the folder, packs the weights, starts the workers and translates the warm-up texts.
ServedModel load_model(const ModelSpec& spec, const LoadOptions& options) {
  const std::vector<std::filesystem::path> folders = {spec.folder};
  ServedModel model{.languages = {}, .folder = spec.folder, .sha256 = {}, .translator = {}, .search = {}};
  base::read_published(spec.folder, [&](const base::CheckedFolder& folder) {
    const auto weights = folder.manifest().files.find(models::kWeightsName);
    base::check_data(weights != folder.manifest().files.end(), "{}: has no {}; is it the folder of a model?",
                     spec.folder.string(), models::kWeightsName);
    model.sha256 = weights->second.sha256;
  });
  model.translator = decoding::load_ensemble(folders, options.precision, {}, options.threads);
  model.languages = languages_of(spec, *model.translator);
  model.search = options.search(model.translator->search_defaults());
  check_search(model);
  model.card = model_card(card_name(spec.folder), *model.translator, training_record(spec.folder));
  model.rate = speed_of(model);
  return model;
}

// Throws if the last model and one before it are both made for one pair.
void check_is_new(const std::vector<ServedModel>& models) {
  if (has_one_pair(models.back())) {
    const LanguagePair pair = models.back().languages.only_pair();
    base::check_usage(std::ranges::count_if(models,
                                            [&](const ServedModel& model) {
                                              return has_one_pair(model) && model.languages.only_pair() == pair;
                                            }) == 1,
                      "--model: {}:{} is given twice; keep one", pair.source, pair.target);
  }
}

}  // namespace

models::ModelLanguages languages_of(const LanguagePair& pair) {
  return {{{pair.source}}, {{pair.target}}};
}

bool translates(const ServedModel& model, const std::string& source, const std::string& target) {
  return source != target && holds(model.languages.sources, source) && holds(model.languages.targets, target);
}

ModelSpec model_spec_from(const std::string& text) {
  const size_t equals = text.find('=');
  const size_t colon = text.find(':');
  if (equals == std::string::npos || colon >= equals || text.find('/') < equals) {
    return {{}, text};
  }
  base::check_usage(equals + 1 < text.size(), "--model is \"{}\", the folder is missing", text);
  return {checked_pair({text.substr(0, colon), text.substr(colon + 1, equals - colon - 1)}, "--model"),
          text.substr(equals + 1)};
}

std::shared_ptr<const ServedModels> ServedModels::load(const LoadOptions& options) {
  base::check_usage(!options.models.empty(), "no model is given; give at least one --model");
  std::vector<ServedModel> models;
  std::vector<ServedLanguageModel> language_models;
  std::vector<ServedEncoder> encoders;
  std::vector<std::string> ids;
  for (const ModelSpec& spec : options.models) {
    const models::ModelKind kind = kind_of(spec);
    if (kind == models::ModelKind::kEncoderDecoder) {
      models.push_back(load_model(spec, options));
      check_is_new(models);
      continue;
    }
    ids.push_back(model_id(spec.folder));
    base::check_usage(std::ranges::count(ids, ids.back()) == 1,
                      "--model: two models are named {}, after their folders; rename one", ids.back());
    if (kind == models::ModelKind::kEncoder) {
      const int64_t batch_tokens = options.search({}).execution.batch_tokens;
      encoders.push_back(load_served_encoder(spec.folder, options.precision, options.threads, batch_tokens));
    } else {
      language_models.push_back(load_language_model(spec.folder, options.precision, options.threads));
    }
  }
  base::check_usage(
      !models.empty() || options.search_flag.empty(),
      "{}: is for models that translate, and none is served; leave it out, requests name their own options",
      options.search_flag);
  return std::make_shared<ServedModels>(std::move(models), std::move(language_models), std::move(encoders));
}

const ServedLanguageModel* ServedModels::find_language_model(std::string_view id) const {
  const auto found = std::ranges::find(language_models_, id, &ServedLanguageModel::id);
  return found == language_models_.end() ? nullptr : &*found;
}

const ServedEncoder* ServedModels::find_encoder(std::string_view id) const {
  const auto found = std::ranges::find(encoders_, id, &ServedEncoder::id);
  return found == encoders_.end() ? nullptr : &*found;
}

ServedModels::ServedModels(std::vector<ServedModel> models, std::vector<ServedLanguageModel> language_models,
                           std::vector<ServedEncoder> encoders)
    : models_(std::move(models)), language_models_(std::move(language_models)), encoders_(std::move(encoders)) {
  for (const ServedModel& model : models_) {
    add_all_once(sources_, model.languages.sources);
    add_all_once(targets_, model.languages.targets);
  }
  languages_ = sources_;
  for (const std::string& code : targets_) {
    add_once(languages_, code);
  }
}

ServedPair ServedModels::find(std::string_view source, std::string_view target) const {
  const std::string from = models::match_language(source, sources_), to = models::match_language(target, targets_);
  const auto found =
      std::ranges::find_if(models_, [&](const ServedModel& model) { return translates(model, from, to); });
  if (found == models_.end()) {
    return {};
  }
  return {&*found, found->languages.has_codes() ? found->translator->choose_languages({from, to}).tokens
                                                : decoding::LanguageTokens()};
}

std::vector<std::string> ServedModels::sources_of(const std::string& target) const {
  std::vector<std::string> codes;
  for (const ServedModel& model : models_) {
    if (holds(model.languages.targets, target)) {
      add_all_once(codes, model.languages.sources);
    }
  }
  std::erase(codes, target);
  return codes;
}

std::vector<std::string> ServedModels::targets_of(const std::string& source) const {
  std::vector<std::string> codes;
  for (const ServedModel& model : models_) {
    if (holds(model.languages.sources, source)) {
      add_all_once(codes, model.languages.targets);
    }
  }
  std::erase(codes, source);
  return codes;
}

}  // namespace dragoman::serving
