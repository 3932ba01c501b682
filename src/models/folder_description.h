#pragma once

#include <filesystem>
#include <string>

namespace dragoman::models {

/// Whether every file is compared with the manifest (kYes), or only the files that are shown (kNo).
enum class Verify { kYes, kNo };

/// The contents of a model or checkpoint folder, as text and as JSON.
struct FolderDescription {
  std::string text;  ///< aligned lines: configuration, tensors (shape, dtype, L2 norm), files (size, SHA-256), totals
  std::string json;  ///< {"folder", "config", "tensors": [...], "files": [...], "parameters", "verified"}
};

/// Describes `folder`. With kYes every file of the manifest is checked, also the optimizer state.
/// Throws: Error(kBadData) with the file, if it is damaged or missing, or if its weights have NaN.
[[nodiscard]] FolderDescription describe_folder(const std::filesystem::path& folder, Verify verify);

}  // namespace dragoman::models
