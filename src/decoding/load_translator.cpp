#include "decoding/load_translator.h"

#include "base/error.h"
#include "models/model_folder.h"
#include "models/model_tensors.h"

namespace dragoman::decoding {
namespace {

data::Vocabulary read_vocabulary(const models::ModelFiles& files, const std::filesystem::path& folder,
                                 const std::string& name, int64_t pieces) {
  const auto joint = files.vocabularies.find("vocabulary.spm");
  const auto own = files.vocabularies.find(name);
  const auto found = joint != files.vocabularies.end() ? joint : own;
  base::check_data(found != files.vocabularies.end(),
                   "{}: has neither vocabulary.spm nor {}; is this the folder of a dragoman model?", folder.string(),
                   name);
  const std::string file = (folder / found->first).string();
  data::Vocabulary vocabulary = data::Vocabulary::from_bytes(found->second, file);
  base::check_data(vocabulary.size() == pieces,
                   "{}: has {} pieces, the model was made for {}; use the vocabulary that was trained with the model",
                   file, vocabulary.size(), pieces);
  return vocabulary;
}

}  // namespace

Translator load_translator(const std::filesystem::path& folder) {
  const models::ModelFiles files = models::read_model_folder(folder);
  const std::string config_name = (folder / models::kConfigName).string();
  auto model = std::make_shared<models::Transformer>(models::transformer_config_from_json(files.config, config_name));
  model->parameters().allocate();
  models::load_tensors(files.tensors, model->parameters(), (folder / models::kWeightsName).string());
  model->parameters().pack_weights();
  const models::TransformerConfig& config = model->config();
  return {model, read_vocabulary(files, folder, "source.spm", config.source_vocab_size),
          read_vocabulary(files, folder, "target.spm", config.target_vocab_size)};
}

}  // namespace dragoman::decoding
