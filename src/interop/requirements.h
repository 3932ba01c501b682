#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "nn/layer_options.h"

namespace dragoman::interop {

/// Checks a model for what a layout lacks. Each check names the key, and the value that the layout has.
class Requirements {
 public:
  /// @param file  config.json of the model;  @param program  name of the layout. Requires: both outlive this
  Requirements(const std::string& file, const char* program) : file_(file), program_(program) {}

  /// Throws: Error(kBadData) unless `condition`, "m/config.json: positions is rope, GPT-2 has learned only; the model
  /// cannot be exported".
  template <typename Value>
  void require(bool condition, const char* key, const Value& seen, const char* supported) const {
    base::check_data(condition, "{}: {} is {}, {} has {} only; the model cannot be exported", file_, key, seen,
                     program_, supported);
  }

 private:
  const std::string& file_;
  const char* program_;
};

/// Refuses options of layers that are not those of the paper. Options that decide nothing in such layers may have any
/// value. @param free  names of others that may have any value
void require_paper_layers(const Requirements& theirs, const nn::LayerOptions& layer,
                          std::span<const std::string_view> free = {});

}  // namespace dragoman::interop
