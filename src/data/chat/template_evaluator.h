#pragma once

#include <chrono>
#include <string>

#include "data/chat/template_nodes.h"

namespace dragoman::data {

/// What a template reads beside its own text.
struct TemplateInput {
  TemplateValue::Entries variables = {};
  std::chrono::system_clock::time_point now = {};  ///< of strftime_now, which tells the local time
};

/// Returns the text that a template makes.
/// Throws: Error(kBadData) with the line, "NAME: line 3: message.tool is undefined, so it has no name"; also for a
/// template that refuses its input by raise_exception, and one that works too long (TemplateBudget).
[[nodiscard]] std::string run_template(const TemplateBody& body, const TemplateInput& input, const std::string& name);

}  // namespace dragoman::data
