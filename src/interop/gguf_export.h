#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "interop/gguf_file.h"
#include "models/model_folder.h"

namespace dragoman::interop {

/// A language model as a GGUF file.
struct ExportedGguf {
  GgufFile file;
  std::vector<std::string> notes;  ///< notes for the user, one line each
};

/// Converts a language model to the file that llama.cpp loads, as its architecture gpt2, llama, qwen2 or qwen3.
/// docs/other_models.md has the mapping.
/// Throws: Error(kBadData) for a model that none of these can represent: "m/config.json: activation is relu, llama.cpp
/// has
///         gelu-tanh only; the model cannot be exported", and for a tokenizer that llama.cpp does not have.
/// @param folder  the folder of `model`, for error messages
[[nodiscard]] ExportedGguf export_gguf(const models::ModelFiles& model, const std::filesystem::path& folder,
                                       GgufType type);

}  // namespace dragoman::interop
