#include "decoding/load_model.h"

#include <future>

#include "base/error.h"
#include "base/published_folder.h"
#include "decoding/language_tokens.h"
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

// A model may have more rows than its tokenizer has pieces, as some that are made for round numbers.
void check_tokenizer(const data::Vocabulary& vocabulary, const std::filesystem::path& folder, int64_t rows) {
  base::check_data(vocabulary.size() <= rows,
                   "{}: its vocabulary has {} pieces, the model was made for {}; use the vocabulary that was trained "
                   "with the model",
                   folder.string(), vocabulary.size(), rows);
}

// As the file stores the weights; a GPU takes float32.
kernels::Precision default_precision(const std::vector<tensor::SafetensorsEntry>& entries) {
  return tensor::Arena::current()->device().is_host() ? models::stored_precision(entries)
                                                      : kernels::Precision::kFloat32;
}

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
    models::load_for_inference(next, model.parameters(), precision.value_or(default_precision(file.entries())),
                               file_name);
  });
}

std::shared_ptr<const Shortlist> load_shortlist(const std::string& bytes, const std::filesystem::path& folder,
                                                PieceCounts pieces) {
  const std::string file_name = (folder / models::kShortlistName).string();
  return bytes.empty() ? nullptr : std::make_shared<Shortlist>(Shortlist::from_bytes(bytes, file_name, pieces));
}

models::ModelLanguages load_languages(const std::string& text, const data::VocabularyPair& vocabularies,
                                      const std::string& file_name) {
  models::ModelLanguages languages;
  if (!text.empty()) {
    languages = models::languages_from_json(text, file_name);
    check_language_pieces(languages, vocabularies, file_name);
  }
  return languages;
}

LoadedModel load_files(const base::CheckedFolder& folder, std::optional<kernels::Precision> precision) {
  const models::ModelFiles texts = models::read_model_texts(folder);
  auto pieces = std::async(std::launch::async | std::launch::deferred,
                           [&] { return load_vocabularies(texts.vocabularies, folder.path()); });
  const models::ModelConfig config = models::config_from_json(texts.config, folder.path_of(models::kConfigName));
  const std::shared_ptr<models::Model> model = models::make_model(config);
  load_weights(folder, *model, precision);
  const data::VocabularyPair vocabularies = pieces.get();
  if (config.sizes().source_vocab_size == 0) {
    check_tokenizer(vocabularies.target, folder.path(), config.sizes().target_vocab_size);
    return {model, vocabularies, {}, nullptr};
  }
  if (config.sizes().target_vocab_size == 0) {
    check_tokenizer(vocabularies.source, folder.path(), config.sizes().source_vocab_size);
    return {model, vocabularies, {}, nullptr, texts.labels};
  }
  const bool joint = texts.vocabularies.contains(models::kJointVocabularyName);
  check_size(vocabularies.source, folder.path_of(joint ? models::kJointVocabularyName : models::kSourceVocabularyName),
             config.sizes().source_vocab_size);
  check_size(vocabularies.target, folder.path_of(joint ? models::kJointVocabularyName : models::kTargetVocabularyName),
             config.sizes().target_vocab_size);
  return {model,
          vocabularies,
          search_defaults_from_json(texts.decoding, folder.path_of(models::kDecodingName)),
          load_shortlist(texts.shortlist, folder.path(), {vocabularies.source.size(), vocabularies.target.size()}),
          {},
          load_languages(texts.languages, vocabularies, folder.path_of(models::kLanguagesName))};
}

}  // namespace

LoadedModel load_model(const std::filesystem::path& folder, std::optional<kernels::Precision> precision) {
  std::optional<LoadedModel> loaded;
  base::read_published(folder, [&](const base::CheckedFolder& files) { loaded.emplace(load_files(files, precision)); });
  return std::move(*loaded);
}

data::VocabularyPair load_vocabularies(const models::VocabularyFiles& files, const std::filesystem::path& folder) {
  const auto load = [&](const char* name) {
    const auto found = files.find(name);
    base::check_data(found != files.end(), "{}: has neither {} nor {}; is this the folder of a dragoman model?",
                     folder.string(), models::kJointVocabularyName, name);
    return data::Vocabulary::from_bytes(found->second, (folder / name).string());
  };
  if (files.contains(models::kTokenizerName)) {
    const data::Vocabulary tokenizer = load(models::kTokenizerName);
    return {tokenizer, tokenizer};
  }
  if (files.contains(models::kJointVocabularyName)) {
    const data::Vocabulary joint = load(models::kJointVocabularyName);
    return {joint, joint};
  }
  return {load(models::kSourceVocabularyName), load(models::kTargetVocabularyName)};
}

std::unique_ptr<Generator> load_generator(const std::filesystem::path& folder,
                                          std::optional<kernels::Precision> precision, const ServiceThreads& threads) {
  LoadedModel loaded = load_model(folder, precision);
  base::check_usage(loaded.model->config().sizes().target_vocab_size > 0,
                    "{}: holds an {} model, which writes no text; use dragoman embed", folder.string(),
                    loaded.model->config().architecture());
  base::check_usage(loaded.model->config().sizes().source_vocab_size == 0,
                    "{}: holds a {} model, which reads a source text; use dragoman translate", folder.string(),
                    loaded.model->config().architecture());
  return std::make_unique<Generator>(std::move(loaded.model), std::move(loaded.vocabularies.target), threads);
}

}  // namespace dragoman::decoding
