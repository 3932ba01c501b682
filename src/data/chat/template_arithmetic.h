#pragma once

#include <string_view>

#include "data/chat/template_value.h"

namespace dragoman::data {

/// Returns the result of an operator: + - * / // % or ~, as Python has them.
/// Throws: Error(kBadData) for values that the operator does not take: "+ of a text and none is not
/// supported".
[[nodiscard]] TemplateValue template_arithmetic(std::string_view name, const TemplateValue& left,
                                                const TemplateValue& right, TemplateBudget& budget);
[[nodiscard]] TemplateValue template_negative(const TemplateValue& value);

/// The bounds of a slice; none stands for one that is not written.
struct TemplateBounds {
  TemplateValue first, last, step;
};
/// Returns the slice of a list or a text.
[[nodiscard]] TemplateValue template_slice(const TemplateValue& value, const TemplateBounds& bounds,
                                           TemplateBudget& budget);

/// Returns the list of range(last), range(first, last) or range(first, last, step).
[[nodiscard]] TemplateValue template_range(const TemplateValue::Items& arguments, TemplateBudget& budget);

}  // namespace dragoman::data
