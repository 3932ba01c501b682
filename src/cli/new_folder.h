#pragma once

#include <filesystem>

#include "base/error.h"

namespace dragoman::cli {

/// Throws Error(kUsage) unless the folder is not there or empty: what stands in one is never written over.
inline void check_is_new(const std::filesystem::path& folder) {
  std::error_code failed;
  const bool is_new = !std::filesystem::exists(folder, failed) || std::filesystem::is_empty(folder, failed);
  base::check_usage(is_new && !failed, "{}: is there already and not an empty folder; name a new one for the model",
                    folder.string());
}

}  // namespace dragoman::cli
