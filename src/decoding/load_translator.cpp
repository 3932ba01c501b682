#include "decoding/load_translator.h"

#include "base/error.h"
#include "decoding/search_defaults.h"
#include "models/model_tensors.h"

namespace dragoman::decoding {
namespace {

void check_size(const data::Vocabulary& vocabulary, const std::filesystem::path& file, int64_t pieces) {
  base::check_data(vocabulary.size() == pieces,
                   "{}: has {} pieces, the model was made for {}; use the vocabulary that was trained with the model",
                   file.string(), vocabulary.size(), pieces);
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

Translator load_translator(const std::filesystem::path& folder, ops::Precision precision) {
  const models::ModelFiles files = models::read_model_folder(folder);
  const std::string config_name = (folder / models::kConfigName).string();
  auto model = std::make_shared<models::Transformer>(models::transformer_config_from_json(files.config, config_name));
  model->parameters().allocate();
  models::load_tensors(files.tensors, model->parameters(), (folder / models::kWeightsName).string());
  model->parameters().pack_weights(precision);
  const models::TransformerConfig& config = model->config();
  const data::VocabularyPair vocabularies = load_vocabularies(files.vocabularies, folder);
  const bool joint = files.vocabularies.contains(models::kJointVocabularyName);
  check_size(vocabularies.source, folder / (joint ? models::kJointVocabularyName : models::kSourceVocabularyName),
             config.source_vocab_size);
  check_size(vocabularies.target, folder / (joint ? models::kJointVocabularyName : models::kTargetVocabularyName),
             config.target_vocab_size);
  return {model, vocabularies.source, vocabularies.target,
          search_defaults_from_json(files.decoding, (folder / models::kDecodingName).string())};
}

}  // namespace dragoman::decoding
