#pragma once

#include <string>
#include <string_view>

#include "data/chat/template_function.h"

namespace dragoman::data {

/// Returns the function of a name, or null.
[[nodiscard]] const TemplateFunction* find_template_function(TemplateFunction::Kind kind, std::string_view name);

/// Returns the names of all functions of a kind, for errors.
[[nodiscard]] std::string template_function_names(TemplateFunction::Kind kind);

/// Returns value.name, value["name"] or value[number], as `name` says; undefined if there is none.
/// @param place  of the value for errors, such as "message.tool"
/// Throws: Error(kBadData) if `value` is undefined: "message.tool is undefined, so it has no name".
[[nodiscard]] TemplateValue template_item(const TemplateValue& value, const TemplateValue& name,
                                          const std::string& place, TemplateBudget& budget);

}  // namespace dragoman::data
