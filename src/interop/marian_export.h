#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/model_folder.h"
#include "tensor/safetensors.h"

namespace dragoman::interop {

/// What a MarianMT folder says beside the model.
struct MarianExportOptions {
  int beam_size = 4;                     ///< num_beams
  std::optional<double> length_penalty;  ///< exponent of the length; none when ours is of another formula
  std::string source_language;           ///< for the tokenizer, which only passes it on; may be empty
  std::string target_language;
};

/// A model of dragoman as the files of a MarianMT folder.
struct ExportedModel {
  std::map<std::string, std::string> texts;  ///< config.json, vocab.json, source.spm, ... by file name
  tensor::NamedTensors tensors;              ///< of model.safetensors
  std::vector<std::string> notes;            ///< what a user should know, one line each
};

/// Translates a model folder into the files that transformers' MarianMTModel and MarianTokenizer load; they then
/// compute the same logits. docs/other_models.md has the mapping. Throws Error(kBadData) for what MarianMT does not
/// have: "m/config.json: norm_order is \"pre\", MarianMT has \"post\" only; the model cannot be exported".
/// @param folder  where `model` was read from, for errors
ExportedModel export_marian(const models::ModelFiles& model, const std::filesystem::path& folder,
                            const MarianExportOptions& options);

/// Writes the files; `folder` is there whole or not at all. Throws Error(kUsage) when `folder` exists already,
/// Error(kCannotWrite).
void write_marian_folder(const ExportedModel& model, const std::filesystem::path& folder);

}  // namespace dragoman::interop
