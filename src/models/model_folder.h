#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/checked_folder.h"
#include "base/folder_writer.h"
#include "tensor/safetensors.h"

namespace dragoman::models {

/// Names of the files that every model folder and every checkpoint holds (docs/checkpoint_format.md).
inline constexpr const char* kConfigName = "config.json";
inline constexpr const char* kWeightsName = "model.safetensors";
inline constexpr const char* kDecodingName = "decoding.json";           // not in every one
inline constexpr const char* kLanguagesName = "languages.json";         // not in every one
inline constexpr const char* kShortlistName = "shortlist.safetensors";  // not in every one
inline constexpr const char* kChatName = "chat.json";                   // not in every one
inline constexpr const char* kLabelsName = "labels.json";               // not in every one
inline constexpr const char* kVocabularyExtension = ".spm";
inline constexpr const char* kJointVocabularyName = "vocabulary.spm";  // one for both sides, or
inline constexpr const char* kSourceVocabularyName = "source.spm";     // one for each side
inline constexpr const char* kTargetVocabularyName = "target.spm";
inline constexpr const char* kTokenizerName = "tokenizer.json";  // in place of these, of a language model

using VocabularyFiles =
    std::map<std::string, std::string>;  ///< bytes of every *.spm, or of tokenizer.json, by file name

/// A model as it stands in its folder: everything that is needed to translate.
struct ModelFiles {
  std::string config;            ///< text of config.json
  tensor::NamedTensors tensors;  ///< of model.safetensors, by parameter path
  VocabularyFiles vocabularies;
  std::string decoding{};   ///< text of decoding.json: how this model is searched best; empty when there is none
  std::string languages{};  ///< text of languages.json (models/languages.h); empty when there is none
  std::string shortlist{};  ///< bytes of shortlist.safetensors (decoding/shortlist.h); empty when there is none
  std::string labels{};     ///< text of labels.json (data/labels.h); empty when there is none
  std::string chat{};       ///< text of chat.json (data/chat/chat_template.h); empty when there is none
};

/// Reads a model folder or a checkpoint folder. The bytes of each file are compared with the manifest before they are
/// parsed; values must be finite; no path that stands in a file is ever opened; symbolic links are refused. Works
/// while a training run publishes a better model into the same folder, and after it was killed doing so.
/// Throws Error(kBadData) naming the file.
ModelFiles read_model_folder(const std::filesystem::path& folder,
                             tensor::FiniteCheck finite = tensor::FiniteCheck::kYes);

/// The same from a folder opened by the caller, for checkpoints, which hold more files than a model.
ModelFiles read_model_files(const base::CheckedFolder& folder, tensor::FiniteCheck finite = tensor::FiniteCheck::kYes);

/// All of it but the weights, for those who read them as they come (base::CheckedFolder::stream).
ModelFiles read_model_texts(const base::CheckedFolder& folder);

/// Adds a model to a folder that is being written. Throws Error(kRuntime) when a value is not finite.
void add_model_files(base::FolderWriter& writer, const ModelFiles& model);

/// Makes `model` the one at the top of `folder`, which others may be reading (base::publish_files).
void publish_model_folder(const std::filesystem::path& folder, const ModelFiles& model,
                          const base::RetryPolicy& retry = {});

/// Throws Error(kUsage) when the folder holds more than a model, because a checkpoint must not change:
/// "DIR: holds optimizer.safetensors, so it is a checkpoint; name the folder of the model". Error(kBadData): no folder.
void check_is_no_checkpoint(const std::filesystem::path& folder);

/// Puts `text` into the model folder as its decoding.json, or removes the file if `text` is empty; the model stays as
/// it is. The caller holds the folder's lock (base::FolderLock). Throws as check_is_no_checkpoint does.
void store_decoding(const std::filesystem::path& folder, const std::string& text);
/// The same for shortlist.safetensors.
void store_shortlist(const std::filesystem::path& folder, const std::string& bytes);

}  // namespace dragoman::models
