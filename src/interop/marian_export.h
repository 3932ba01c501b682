#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/model_folder.h"
#include "tensor/safetensors.h"

namespace dragoman::interop {

/// The values of a MarianMT folder that are not part of the model.
struct MarianExportOptions {
  int beam_size = 4;                     ///< num_beams
  std::optional<double> length_penalty;  ///< exponent of the length; none if our penalty has another formula
  std::string source_language;           ///< for the settings of the tokenizer; may be empty
  std::string target_language;
};

/// A model of dragoman as the files of a MarianMT folder.
struct ExportedModel {
  std::map<std::string, std::string> texts;  ///< config.json, vocab.json, source.spm, ... by file name
  tensor::NamedTensors tensors;              ///< the tensors of model.safetensors
  std::vector<std::string> notes;            ///< notes for the user, one line each
};

/// Converts a model folder to the files that MarianMTModel and MarianTokenizer of transformers load. The exported model
/// computes the same logits. docs/other_models.md has the mapping.
/// Throws: Error(kBadData) for a model that MarianMT cannot represent: "m/config.json: norm_order is "pre", MarianMT
///         has "post" only; the model cannot be exported".
/// @param folder  the folder of `model`, for error messages
[[nodiscard]] ExportedModel export_marian(const models::ModelFiles& model, const std::filesystem::path& folder,
                                          const MarianExportOptions& options);

/// Writes the files. After an error `folder` does not exist.
/// Throws: Error(kUsage) if `folder` exists already. Error(kCannotWrite).
void write_marian_folder(const ExportedModel& model, const std::filesystem::path& folder);

}  // namespace dragoman::interop
