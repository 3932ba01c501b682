#include "decoding/load_translator.h"

#include "base/error.h"
#include "models/model_folder.h"
#include "models/model_tensors.h"

namespace dragoman::decoding {
namespace {

data::Vocabulary read_vocabulary(const models::ModelFiles& files, const std::filesystem::path& folder,
                                 const std::string& name) {
  const auto joint = files.vocabularies.find("vocabulary.spm");
  const auto own = files.vocabularies.find(name);
  const auto found = joint != files.vocabularies.end() ? joint : own;
  base::check_data(found != files.vocabularies.end(),
                   "{}: has neither vocabulary.spm nor {}; is this the folder of a dragoman model?", folder.string(),
                   name);
  return data::Vocabulary::from_bytes(found->second, (folder / found->first).string());
}

}  // namespace

Translator load_translator(const std::filesystem::path& folder) {
  const models::ModelFiles files = models::read_model_folder(folder);
  const std::string config_name = (folder / models::kConfigName).string();
  auto model = std::make_shared<models::Transformer>(models::transformer_config_from_json(files.config, config_name));
  model->parameters().allocate();
  models::load_tensors(files.tensors, model->parameters(), (folder / models::kWeightsName).string());
  model->parameters().pack_weights();
  return {model, read_vocabulary(files, folder, "source.spm"), read_vocabulary(files, folder, "target.spm")};
}

}  // namespace dragoman::decoding
