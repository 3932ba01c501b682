#include "decoding/load_translator.h"

#include <future>

#include "base/error.h"
#include "base/published_folder.h"
#include "decoding/search/search_defaults.h"
#include "models/architectures/architectures.h"
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
  std::shared_ptr<const models::Model> model;
  data::VocabularyPair vocabularies;
  SearchOptions defaults;
  std::shared_ptr<const Shortlist> shortlist;  // null when the folder has none
};

// The weights in the memory of the file go back to the system, a few at a time, as they are packed.
void load_weights(const base::CheckedFolder& folder, models::Model& model,
                  std::optional<kernels::Precision> precision) {
  const std::string file_name = folder.path_of(models::kWeightsName);
  const auto apart = std::make_shared<tensor::Arena>();
  folder.stream(models::kWeightsName, [&](uint64_t size, const base::CheckedFolder::ReadNext& read) {
    tensor::SafetensorsStream file(size, read, file_name);
    const auto next = [&] {
      const tensor::ArenaScope scope(apart);
      return file.next();
    };
    models::load_for_inference(next, model.parameters(), precision.value_or(models::stored_precision(file.entries())),
                               file_name);
  });
}

std::shared_ptr<const Shortlist> load_shortlist(const std::string& bytes, const std::filesystem::path& folder,
                                                PieceCounts pieces) {
  const std::string file_name = (folder / models::kShortlistName).string();
  return bytes.empty() ? nullptr : std::make_shared<Shortlist>(Shortlist::from_bytes(bytes, file_name, pieces));
}

LoadedModel load_files(const base::CheckedFolder& folder, std::optional<kernels::Precision> precision) {
  const models::ModelFiles texts = models::read_model_texts(folder);
  auto pieces = std::async(std::launch::async | std::launch::deferred,
                           [&] { return load_vocabularies(texts.vocabularies, folder.path()); });
  const models::ModelConfig config = models::config_from_json(texts.config, folder.path_of(models::kConfigName));
  const std::shared_ptr<models::Model> model = models::make_model(config);
  load_weights(folder, *model, precision);
  const data::VocabularyPair vocabularies = pieces.get();
  const bool joint = texts.vocabularies.contains(models::kJointVocabularyName);
  check_size(vocabularies.source, folder.path_of(joint ? models::kJointVocabularyName : models::kSourceVocabularyName),
             config.sizes().source_vocab_size);
  check_size(vocabularies.target, folder.path_of(joint ? models::kJointVocabularyName : models::kTargetVocabularyName),
             config.sizes().target_vocab_size);
  return {model, vocabularies, search_defaults_from_json(texts.decoding, folder.path_of(models::kDecodingName)),
          load_shortlist(texts.shortlist, folder.path(), {vocabularies.source.size(), vocabularies.target.size()})};
}

LoadedModel load_model(const std::filesystem::path& folder, std::optional<kernels::Precision> precision) {
  std::optional<LoadedModel> loaded;
  base::read_published(folder, [&](const base::CheckedFolder& files) { loaded.emplace(load_files(files, precision)); });
  return std::move(*loaded);
}

// Null for an empty folder name.
std::shared_ptr<const Reranker> load_reranker(const std::filesystem::path& folder,
                                              std::optional<kernels::Precision> precision) {
  if (folder.empty()) {
    return nullptr;
  }
  LoadedModel reverse = load_model(folder, precision);
  return std::make_shared<Reranker>(std::move(reverse.model), std::move(reverse.vocabularies.source),
                                    std::move(reverse.vocabularies.target));
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

Translator load_translator(const std::filesystem::path& folder, std::optional<kernels::Precision> precision) {
  LoadedModel loaded = load_model(folder, precision);
  return {std::move(loaded.model),
          loaded.vocabularies.source,
          loaded.vocabularies.target,
          {.defaults = loaded.defaults, .shortlist = std::move(loaded.shortlist)}};
}

std::unique_ptr<Translator> load_ensemble(std::span<const std::filesystem::path> folders,
                                          std::optional<kernels::Precision> precision,
                                          const std::filesystem::path& reverse, const ServiceThreads& threads) {
  base::check_usage(!folders.empty(), "ensemble: no model folder is given, one at least is needed");
  LoadedModel first = load_model(folders.front(), precision);
  ParallelSearch::Models models = {first.model};
  for (const std::filesystem::path& folder : folders.subspan(1)) {
    const LoadedModel next = load_model(folder, precision);
    check_same("source", first.vocabularies.source, next.vocabularies.source, folders.front(), folder);
    check_same("target", first.vocabularies.target, next.vocabularies.target, folders.front(), folder);
    models.push_back(next.model);
  }
  TranslatorSetup setup{first.defaults, std::move(first.shortlist), load_reranker(reverse, precision), threads};
  return std::make_unique<Translator>(std::move(models), first.vocabularies.source, first.vocabularies.target,
                                      std::move(setup));
}

}  // namespace dragoman::decoding
