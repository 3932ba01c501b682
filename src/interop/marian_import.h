#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "interop/marian_config.h"
#include "models/model_folder.h"

namespace dragoman::interop {

/// A MarianMT model as the files of a dragoman model folder.
struct ImportedModel {
  models::ModelFiles files;        ///< without decoding.json
  MarianSearch search;             ///< default search options of the folder
  std::vector<std::string> notes;  ///< notes for the user, one line each
};

/// Reads the folder of a MarianMT model of Hugging Face transformers, such as one of OPUS-MT. It opens config.json,
/// model.safetensors, vocab.json, source.spm and target.spm, and target_vocab.json and generation_config.json if they
/// exist. The result computes the same logits; docs/other_models.md has the mapping. float16 and bfloat16 become
/// float32.
/// Throws: Error(kBadData) with the file, its value and what is supported, for
///         - a missing or damaged file, and files of different models;
///         - a model that dragoman cannot represent;
///         - a tensor that is missing, unknown or of another shape.
[[nodiscard]] ImportedModel import_marian(const std::filesystem::path& folder);

/// Returns: the default search of a folder of transformers: that of generation_config.json, or without it of the
/// config.json with text `config`. Throws: as import_marian.
[[nodiscard]] MarianSearch read_marian_search(const std::filesystem::path& folder, const std::string& config);

}  // namespace dragoman::interop
