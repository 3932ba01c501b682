#pragma once

#include <string>
#include <string_view>

#include "data/chat/template_function.h"

namespace dragoman::data {

/// Returns the function of a name, or null.
[[nodiscard]] const TemplateFunction* find_template_function(TemplateFunction::Kind kind, std::string_view name);

/// Returns the names of all functions of a kind, for errors.
[[nodiscard]] std::string template_function_names(TemplateFunction::Kind kind);

}  // namespace dragoman::data
