#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/model_formats.h"

namespace dragoman::cli {

/// What `import` reads and where it writes.
struct ImportArguments {
  ImportFormat from = ImportFormat::kMarian;
  std::filesystem::path folder;
  std::filesystem::path model;
};

/// Makes a model folder of a model of another program. Returns: notes for the user, one line each.
/// Throws: Error(kUsage) if `model` is neither new nor empty; Error(kBadData) for a model that cannot be represented;
/// Error(kCannotWrite).
std::vector<std::string> import_model(const ImportArguments& arguments);

}  // namespace dragoman::cli
