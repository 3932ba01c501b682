#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tensor/safetensors.h"

namespace dragoman::interop {

/// A model of dragoman as the files of a folder of Hugging Face transformers.
struct ExportedModel {
  std::map<std::string, std::string> texts;  ///< config.json, vocab.json, source.spm, ... by file name
  /// The texts of folders inside, by folder and file name.
  std::map<std::string, std::map<std::string, std::string>> folders;
  tensor::NamedTensors tensors;    ///< the tensors of model.safetensors
  std::vector<std::string> notes;  ///< notes for the user, one line each
};

/// Writes the files. After an error `folder` does not exist.
/// Throws: Error(kUsage) if `folder` exists already. Error(kCannotWrite).
void write_exported_model(const ExportedModel& model, const std::filesystem::path& folder);

}  // namespace dragoman::interop
