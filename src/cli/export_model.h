#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/model_formats.h"
#include "interop/gguf_export.h"

namespace dragoman::cli {

/// What `export` reads and where it writes.
struct ExportArguments {
  ExportFormat to = ExportFormat::kMarian;
  std::filesystem::path folder;
  std::filesystem::path model;
  std::string source_language;
  std::string target_language;
  interop::GgufType gguf_type = interop::GgufType::kF16;
};

/// Writes a model as another program reads it. Returns: notes for the user, one line each.
/// Throws: Error(kUsage) if `folder` is there already; Error(kBadData) for a model that the format cannot represent;
/// Error(kCannotWrite).
std::vector<std::string> export_model(const ExportArguments& arguments);

}  // namespace dragoman::cli
