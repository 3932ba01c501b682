#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/chat/template_value.h"

namespace dragoman::data {

/// A filter, a test or a method of a text or an object.
struct TemplateFunction {
  enum class Kind { kFilter, kTest, kMethod };
  using Arguments = std::span<const TemplateValue>;

  Kind kind;
  std::string_view name;
  size_t least;       ///< number of arguments
  size_t positional;  ///< number of those that need no keyword; all others need theirs
  std::vector<std::string_view> parameters;
  /// @param arguments  one of each parameter; undefined if it is not given
  TemplateValue (*run)(const TemplateValue& subject, Arguments arguments, TemplateBudget& budget);
};

/// Return an argument of a function that must be a text or a whole number.
/// Throw: Error(kBadData), "WHAT is none, must be a text".
[[nodiscard]] const std::string& text_argument(const TemplateValue& value, const char* what);
[[nodiscard]] int64_t whole_argument(const TemplateValue& value, const char* what);

}  // namespace dragoman::data
