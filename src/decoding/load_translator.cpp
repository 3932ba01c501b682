#include "decoding/load_translator.h"

#include <future>

#include "base/error.h"
#include "decoding/search_defaults.h"
#include "models/quantised_model.h"

namespace dragoman::decoding {
namespace {

void check_size(const data::Vocabulary& vocabulary, const std::filesystem::path& file, int64_t pieces) {
  base::check_data(vocabulary.size() == pieces,
                   "{}: has {} pieces, the model was made for {}; use the vocabulary that was trained with the model",
                   file.string(), vocabulary.size(), pieces);
}

void check_same(const char* side, const data::Vocabulary& first, const data::Vocabulary& other,
                const std::filesystem::path& first_folder, const std::filesystem::path& folder) {
  base::check_data(first.sha256() == other.sha256(),
                   "{}: its {} vocabulary is not that of {}; only models trained with the same vocabularies can be "
                   "searched together",
                   folder.string(), side, first_folder.string());
}

struct LoadedModel {
  std::shared_ptr<const models::Transformer> model;
  data::VocabularyPair vocabularies;
  SearchOptions defaults;
  std::shared_ptr<const Shortlist> shortlist;  // null when the folder has none
};

// The file's memory goes back to the system once the weights are packed.
models::ModelFiles read_apart(const std::filesystem::path& folder) {
  const tensor::ArenaScope apart(std::make_shared<tensor::Arena>());
  return models::read_model_folder(folder);
}

std::shared_ptr<const Shortlist> load_shortlist(const std::string& bytes, const std::filesystem::path& folder,
                                                PieceCounts pieces) {
  const std::string file_name = (folder / models::kShortlistName).string();
  return bytes.empty() ? nullptr : std::make_shared<Shortlist>(Shortlist::from_bytes(bytes, file_name, pieces));
}

LoadedModel load_model(const std::filesystem::path& folder, std::optional<ops::Precision> precision) {
  const models::ModelFiles files = read_apart(folder);
  auto pieces = std::async(std::launch::async | std::launch::deferred,
                           [&] { return load_vocabularies(files.vocabularies, folder); });
  const std::string config_name = (folder / models::kConfigName).string();
  auto model = std::make_shared<models::Transformer>(models::transformer_config_from_json(files.config, config_name));
  models::load_for_inference(files.tensors, model->parameters(),
                             precision.value_or(models::stored_precision(files.tensors)), worker_count(0),
                             (folder / models::kWeightsName).string());
  const models::TransformerConfig& config = model->config();
  const data::VocabularyPair vocabularies = pieces.get();
  const bool joint = files.vocabularies.contains(models::kJointVocabularyName);
  check_size(vocabularies.source, folder / (joint ? models::kJointVocabularyName : models::kSourceVocabularyName),
             config.source_vocab_size);
  check_size(vocabularies.target, folder / (joint ? models::kJointVocabularyName : models::kTargetVocabularyName),
             config.target_vocab_size);
  return {model, vocabularies, search_defaults_from_json(files.decoding, (folder / models::kDecodingName).string()),
          load_shortlist(files.shortlist, folder, {vocabularies.source.size(), vocabularies.target.size()})};
}

}  // namespace

data::VocabularyPair load_vocabularies(const models::VocabularyFiles& files, const std::filesystem::path& folder) {
  const auto load = [&](const char* name) {
    const auto found = files.find(name);
    base::check_data(found != files.end(), "{}: has neither {} nor {}; is this the folder of a dragoman model?",
                     folder.string(), models::kJointVocabularyName, name);
    return data::Vocabulary::from_bytes(found->second, (folder / name).string());
  };
  if (files.contains(models::kJointVocabularyName)) {
    const data::Vocabulary joint = load(models::kJointVocabularyName);
    return {joint, joint};
  }
  return {load(models::kSourceVocabularyName), load(models::kTargetVocabularyName)};
}

Translator load_translator(const std::filesystem::path& folder, std::optional<ops::Precision> precision) {
  LoadedModel loaded = load_model(folder, precision);
  return {{std::move(loaded.model)},
          loaded.vocabularies.source,
          loaded.vocabularies.target,
          loaded.defaults,
          std::move(loaded.shortlist)};
}

std::unique_ptr<Translator> load_ensemble(std::span<const std::filesystem::path> folders,
                                          std::optional<ops::Precision> precision) {
  base::check_usage(!folders.empty(), "ensemble: no model folder is given, one at least is needed");
  LoadedModel first = load_model(folders.front(), precision);
  ParallelSearch::Models models = {first.model};
  for (const std::filesystem::path& folder : folders.subspan(1)) {
    const LoadedModel next = load_model(folder, precision);
    check_same("source", first.vocabularies.source, next.vocabularies.source, folders.front(), folder);
    check_same("target", first.vocabularies.target, next.vocabularies.target, folders.front(), folder);
    models.push_back(next.model);
  }
  return std::make_unique<Translator>(std::move(models), first.vocabularies.source, first.vocabularies.target,
                                      first.defaults, std::move(first.shortlist));
}

}  // namespace dragoman::decoding
