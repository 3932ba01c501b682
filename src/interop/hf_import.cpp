#include "interop/hf_import.h"

#include "interop/hf_chat.h"
#include "interop/hf_config.h"
#include "interop/hf_tensors.h"
#include "interop/hf_tokenizer.h"
#include "interop/model_source.h"
#include "models/architectures/architectures.h"
#include "models/model.h"
#include "models/model_tensors.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;

ImportedLanguageModel import_folder(const fs::path& folder, const HfLanguageConfig& config) {
  ImportedLanguageModel imported;
  const data::Vocabulary vocabulary = read_hf_tokenizer(folder, config, imported.notes);
  imported.files.vocabularies[models::kTokenizerName] = vocabulary.bytes();
  imported.files.chat = import_hf_chat(folder, imported.notes);
  TensorSource source(folder);
  imported.files.tensors = import_hf_tensors(source, config);
  models::check_tensors(models::make_model(config.model)->parameters(), imported.files.tensors, source.file());
  imported.files.config = models::to_json(config.model);
  return imported;
}

std::string config_name(const fs::path& folder) {
  return (folder / kHfConfigName).string();
}

}  // namespace

ImportedLanguageModel import_gpt2(const fs::path& folder) {
  return import_folder(folder, gpt2_config_from_json(read_json(folder, kHfConfigName), config_name(folder)));
}

ImportedLanguageModel import_llama(const fs::path& folder) {
  return import_folder(folder, llama_config_from_json(read_json(folder, kHfConfigName), config_name(folder)));
}

}  // namespace dragoman::interop
