#pragma once

#include <filesystem>
#include <string>

namespace dragoman::models {

/// Whether an inspection reads every byte and compares it with the manifest, or trusts what headers say.
enum class Verify { kYes, kNo };

/// What a model or checkpoint folder holds, for people and for programs.
struct Inspection {
  std::string text;  ///< aligned lines: configuration, tensors (shape, dtype, L2 norm), files (size, SHA-256), totals
  std::string json;  ///< the same: {"folder", "config", "tensors": [...], "files": [...], "parameters", "verified"}
};

/// Looks into `folder`. With kYes every file that the manifest lists is compared with it, optimizer state included; the
/// first that differs is the error. With kNo only the files that are shown are.
/// Throws Error(kBadData) naming the file: damaged, missing, NaN in the weights.
Inspection inspect_folder(const std::filesystem::path& folder, Verify verify);

}  // namespace dragoman::models
