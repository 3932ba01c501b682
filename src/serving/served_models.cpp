#include "serving/served_models.h"

#include <algorithm>

#include "base/checked_folder.h"
#include "base/error.h"
#include "decoding/load_translator.h"
#include "models/model_folder.h"

namespace dragoman::serving {
namespace {

void add_once(std::vector<std::string>& codes, const std::string& code) {
  if (std::ranges::find(codes, code) == codes.end()) {
    codes.push_back(code);
  }
}

// Reads the folder, packs the weights, starts the workers, and has each of them translate.
ServedModel load_model(const ModelSpec& spec, const LoadOptions& options) {
  const std::vector<std::filesystem::path> folders = {spec.folder};
  ServedModel model{.pair = spec.pair,
                    .folder = spec.folder,
                    .sha256 = base::CheckedFolder(spec.folder).manifest().files.at(models::kWeightsName).sha256,
                    .translator = decoding::load_ensemble(folders, options.precision),
                    .search = {}};
  model.search = options.search(model.translator->search_defaults());
  model.search.check();
  model.translator->submit({.text = "1 2 3"}, model.search).get();
  return model;
}

}  // namespace

ModelSpec model_spec_from(const std::string& text) {
  const size_t equals = text.find('=');
  const size_t colon = text.find(':');
  base::check_usage(equals != std::string::npos && colon < equals,
                    "--model is \"{}\", must name the languages of the model: --model en:de={}", text, text);
  const LanguagePair pair{text.substr(0, colon), text.substr(colon + 1, equals - colon - 1)};
  for (const std::string& code : {pair.source, pair.target}) {
    base::check_usage(is_language_code(code), "--model: \"{}\" is no language code; codes are like en, pt-BR, zh-Hans",
                      code);
  }
  const LanguagePair tidy{tidy_language(pair.source), tidy_language(pair.target)};
  base::check_usage(tidy.source != tidy.target, "--model: source and target are both {}", tidy.source);
  base::check_usage(equals + 1 < text.size(), "--model is \"{}\", the folder is missing", text);
  return {tidy, text.substr(equals + 1)};
}

std::shared_ptr<const ServedModels> ServedModels::load(const LoadOptions& options) {
  base::check_usage(!options.models.empty(), "no model is given, one at least is needed");
  std::vector<ServedModel> models;
  for (const ModelSpec& spec : options.models) {
    for (const ServedModel& earlier : models) {
      base::check_usage(earlier.pair != spec.pair, "--model: {}:{} is given twice; keep one", spec.pair.source,
                        spec.pair.target);
    }
    models.push_back(load_model(spec, options));
  }
  return std::make_shared<ServedModels>(std::move(models));
}

const ServedModel* ServedModels::find(std::string_view source, std::string_view target) const {
  const std::string from = match(source, sources());
  const std::string to = match(target, targets());
  const auto found = std::ranges::find(models_, LanguagePair{from, to}, &ServedModel::pair);
  return found == models_.end() ? nullptr : &*found;
}

std::vector<std::string> ServedModels::sources() const {
  std::vector<std::string> codes;
  for (const ServedModel& model : models_) {
    add_once(codes, model.pair.source);
  }
  return codes;
}

std::vector<std::string> ServedModels::targets() const {
  std::vector<std::string> codes;
  for (const ServedModel& model : models_) {
    add_once(codes, model.pair.target);
  }
  return codes;
}

std::vector<std::string> ServedModels::languages() const {
  std::vector<std::string> codes = sources();
  for (const std::string& code : targets()) {
    add_once(codes, code);
  }
  return codes;
}

std::string ServedModels::match(std::string_view asked, const std::vector<std::string>& codes) {
  const std::string tidy = tidy_language(asked);
  if (std::ranges::find(codes, tidy) != codes.end()) {
    return tidy;
  }
  const std::string base = base_language(tidy);
  if (base != tidy && std::ranges::find(codes, base) != codes.end()) {
    return base;
  }
  const auto is_kin = [&](const std::string& code) { return base_language(code) == base; };
  // zh-Hant is no zh-Hans: only the bare language stands for any of its kinds.
  return base == tidy && std::ranges::count_if(codes, is_kin) == 1 ? *std::ranges::find_if(codes, is_kin) : std::string();
}

}  // namespace dragoman::serving
