#pragma once

#include <filesystem>
#include <string>

#include "interop/exported_model.h"
#include "models/model_folder.h"

namespace dragoman::interop {

/// The values of a MarianMT folder that are not part of the model.
struct MarianExportOptions {
  ExportedSearch search = {};
  std::string source_language;  ///< for the settings of the tokenizer; may be empty
  std::string target_language;
};

/// Converts a model folder to the files that MarianMTModel and MarianTokenizer of transformers load. The exported model
/// computes the same logits. docs/other_models.md has the mapping.
/// Throws: Error(kBadData) for a model that MarianMT cannot represent: "m/config.json: norm_order is "pre", MarianMT
///         has "post" only; the model cannot be exported".
/// @param folder  the folder of `model`, for error messages
[[nodiscard]] ExportedModel export_marian(const models::ModelFiles& model, const std::filesystem::path& folder,
                                          const MarianExportOptions& options);

}  // namespace dragoman::interop
