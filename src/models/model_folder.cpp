#include "models/model_folder.h"

#include "base/error.h"
#include "base/published_folder.h"
#include "tensor/transfer.h"

namespace dragoman::models {
namespace {

using base::check_data;

bool is_vocabulary(std::string_view name) {
  return name.ends_with(kVocabularyExtension) || name == kTokenizerName;
}

// Publishes the model of the folder again, with another file in place of the one it has.
void store(const std::filesystem::path& folder, std::string ModelFiles::*file, const std::string& content) {
  check_is_no_checkpoint(folder);
  ModelFiles model = read_model_folder(folder);
  model.*file = content;
  publish_model_folder(folder, model);
}

}  // namespace

ModelFiles read_model_texts(const base::CheckedFolder& folder) {
  ModelFiles model;
  model.config = folder.read(kConfigName);
  for (const auto& [name, record] : folder.manifest().files) {
    if (is_vocabulary(name)) {
      model.vocabularies[name] = folder.read(name);
    }
  }
  if (folder.has(kDecodingName)) {
    model.decoding = folder.read(kDecodingName);
  }
  if (folder.has(kLanguagesName)) {
    model.languages = folder.read(kLanguagesName);
  }
  if (folder.has(kShortlistName)) {
    model.shortlist = folder.read(kShortlistName);
  }
  if (folder.has(kLabelsName)) {
    model.labels = folder.read(kLabelsName);
  }
  if (folder.has(kChatName)) {
    model.chat = folder.read(kChatName);
  }
  check_data(!model.vocabularies.empty(), "{}: holds no {} file and no {}; the folder is incomplete",
             folder.path().string(), kVocabularyExtension, kTokenizerName);
  return model;
}

ModelFiles read_model_files(const base::CheckedFolder& folder, tensor::FiniteCheck finite) {
  const tensor::HostScope on_host;
  ModelFiles model = read_model_texts(folder);
  tensor::Tensor weights;  // all bytes of the file; the tensors are views of them
  folder.read_into(kWeightsName, [&](uint64_t size) {
    weights = tensor::Tensor::empty({static_cast<int64_t>(size)}, tensor::DType::kInt8);
    const std::span<int8_t> bytes = tensor::HostEdit<int8_t>(weights).span();
    return std::span(reinterpret_cast<char*>(bytes.data()), size);
  });
  model.tensors = tensor::view_safetensors(weights, folder.path_of(kWeightsName), finite);
  return model;
}

ModelFiles read_model_folder(const std::filesystem::path& folder, tensor::FiniteCheck finite) {
  ModelFiles model;
  base::read_published(folder, [&](const base::CheckedFolder& files) { model = read_model_files(files, finite); });
  return model;
}

void add_model_files(base::FolderWriter& writer, const ModelFiles& model) {
  writer.add(kConfigName, model.config);
  for (const auto& [name, bytes] : model.vocabularies) {
    base::check_argument(is_vocabulary(name), "model folder: vocabulary file '{}' must end in {} or be {}", name,
                         kVocabularyExtension, kTokenizerName);
    writer.add(name, bytes);
  }
  if (!model.decoding.empty()) {
    writer.add(kDecodingName, model.decoding);
  }
  if (!model.languages.empty()) {
    writer.add(kLanguagesName, model.languages);
  }
  if (!model.shortlist.empty()) {
    writer.add(kShortlistName, model.shortlist);
  }
  if (!model.labels.empty()) {
    writer.add(kLabelsName, model.labels);
  }
  if (!model.chat.empty()) {
    writer.add(kChatName, model.chat);
  }
  const tensor::SafetensorsImage image = tensor::make_safetensors(model.tensors, {{"format", "dragoman"}});
  writer.add(kWeightsName, image.parts());
}

void publish_model_folder(const std::filesystem::path& folder, const ModelFiles& model,
                          const base::RetryPolicy& retry) {
  base::publish_files(
      folder, [&](base::FolderWriter& writer) { add_model_files(writer, model); }, retry);
}

void check_is_no_checkpoint(const std::filesystem::path& folder) {
  base::read_published(folder, [&](const base::CheckedFolder& files) {
    for (const auto& [name, record] : files.manifest().files) {
      base::check_usage(name == kConfigName || name == kWeightsName || name == kDecodingName ||
                            name == kLanguagesName || name == kShortlistName || name == kChatName ||
                            name == kLabelsName || is_vocabulary(name),
                        "{}: holds {}, so it is a checkpoint; name the folder of the model", folder.string(), name);
    }
  });
}

void store_decoding(const std::filesystem::path& folder, const std::string& text) {
  store(folder, &ModelFiles::decoding, text);
}

void store_shortlist(const std::filesystem::path& folder, const std::string& bytes) {
  store(folder, &ModelFiles::shortlist, bytes);
}

}  // namespace dragoman::models
