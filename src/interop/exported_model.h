#pragma once

#include <filesystem>
#include <map>
#include <optional>
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

/// The search of a model as generation_config.json names it.
struct ExportedSearch {
  int beam_size = 4;                          ///< num_beams
  std::optional<double> length_penalty = {};  ///< exponent of the length; none if our penalty has another formula
};

/// Adds a note if transformers does not have the length penalty.
void add_search_note(const ExportedSearch& search, ExportedModel& model);

/// Writes the files. After an error `folder` does not exist.
/// Throws: Error(kUsage) if `folder` exists already. Error(kCannotWrite).
void write_exported_model(const ExportedModel& model, const std::filesystem::path& folder);

}  // namespace dragoman::interop
