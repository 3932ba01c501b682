#pragma once

#include <string>

#include "data/chat/template_function.h"

namespace dragoman::data {

/// Returns value.name, value["name"] or value[number], as `name` says; undefined if there is none.
/// @param place  of the value for errors, such as "message.tool"
/// Throws: Error(kBadData) if `value` is undefined: "message.tool is undefined, so it has no name".
[[nodiscard]] TemplateValue template_item(const TemplateValue& value, const TemplateValue& name,
                                          const std::string& place, TemplateBudget& budget);

}  // namespace dragoman::data
