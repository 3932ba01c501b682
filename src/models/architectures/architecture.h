#pragma once

#include <memory>
#include <string_view>

#include "models/model.h"

namespace dragoman::models {

/// One row of the table of architectures: how config.json becomes a configuration, and a configuration a model.
struct Architecture {
  std::string_view name;  ///< "transformer", the key "architecture" of config.json
  /// Throws: Error(kBadData) naming file and key.
  ModelConfig (*config_from_json)(std::string_view text, std::string_view file_name);
  /// Requires: `config` is of this architecture.
  std::unique_ptr<Model> (*make)(const ModelConfig& config);
};

}  // namespace dragoman::models
