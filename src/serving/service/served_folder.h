#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "models/model_config.h"

namespace dragoman::serving {

/// Returns the name of the folder, by which clients name a model without languages. For a folder "model" it is the name
/// of its parent.
[[nodiscard]] std::string model_id(const std::filesystem::path& folder);

/// What a folder says of itself.
struct FolderFacts {
  models::ModelKind kind = models::ModelKind::kEncoderDecoder;
  std::string sha256;   ///< of its weights, from the manifest
  int64_t created = 0;  ///< when it was published, in seconds since 1970
};

/// Reads the facts. Throws: Error(kBadData) for a folder that cannot be used, "DIR: has no model.safetensors; is it the
/// folder of a model?".
[[nodiscard]] FolderFacts folder_facts(const std::filesystem::path& folder);

}  // namespace dragoman::serving
