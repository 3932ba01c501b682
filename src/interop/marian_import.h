#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "interop/marian_config.h"
#include "models/model_folder.h"

namespace dragoman::interop {

/// A MarianMT model as a model folder of dragoman holds it.
struct ImportedModel {
  models::ModelFiles files;        ///< without decoding.json
  MarianSearch search;             ///< how the folder asks for it to be searched
  std::vector<std::string> notes;  ///< what a user should know, one line each
};

/// Reads a folder of a MarianMT model (Hugging Face transformers; the OPUS-MT family): config.json, model.safetensors,
/// vocab.json (target_vocab.json beside it when the sides have their own), source.spm, target.spm and, where it is
/// there, generation_config.json. The result computes the same logits; docs/other_models.md has the mapping.
/// float16 and bfloat16 are widened. Nothing else in the folder is opened.
/// Throws Error(kBadData) naming the file, what it holds and what is supported: a missing or damaged file, files of
/// different models, a model that cannot be represented, a tensor that is missing, of another shape or unknown.
ImportedModel import_marian(const std::filesystem::path& folder);

}  // namespace dragoman::interop
