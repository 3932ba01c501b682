#pragma once

#include <string>

#include "base/error.h"

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

}  // namespace dragoman::interop
