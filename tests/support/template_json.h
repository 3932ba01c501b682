#pragma once

#include <nlohmann/json.hpp>

#include "data/chat/template_value.h"

namespace dragoman::test_support {

/// Returns a JSON value as a value of a template, its entries in their order.
inline data::TemplateValue template_value_of(const nlohmann::ordered_json& value) {
  using data::TemplateValue;
  if (value.is_boolean()) {
    return TemplateValue::truth(value.get<bool>());
  }
  if (value.is_number_integer()) {
    return TemplateValue::integer(value.get<int64_t>());
  }
  if (value.is_number()) {
    return TemplateValue::number(value.get<double>());
  }
  if (value.is_string()) {
    return TemplateValue::text(value.get<std::string>());
  }
  if (value.is_array()) {
    TemplateValue::Items items;
    for (const auto& item : value) {
      items.push_back(template_value_of(item));
    }
    return TemplateValue::list(std::move(items));
  }
  if (value.is_object()) {
    TemplateValue::Entries entries;
    for (const auto& [name, entry] : value.items()) {
      entries.emplace_back(name, template_value_of(entry));
    }
    return TemplateValue::dict(std::move(entries));
  }
  return TemplateValue::none();
}

}  // namespace dragoman::test_support
