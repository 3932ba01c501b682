#pragma once

#include <string>
#include <string_view>

#include "data/chat/template_nodes.h"

namespace dragoman::data {

inline constexpr size_t kMostTemplateBytes = size_t{1} << 18;  ///< of a template

/// Reads a template. Requires: `source` is valid UTF-8.
/// Throws: Error(kBadData) with the line for a template that Jinja does not read either, and for everything that this
/// subset of Jinja lacks, by its name: "NAME: line 3: filter "batch" is not supported; known are trim, upper, ...".
[[nodiscard]] TemplateBody parse_template(std::string_view source, const std::string& name);

}  // namespace dragoman::data
