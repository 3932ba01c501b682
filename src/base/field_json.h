#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "base/json_fields.h"

namespace dragoman::base {

/// Returns: a value as JSON. Enumerations are their names, a float is its shortest decimal.
template <typename Value>
nlohmann::json json_of(const Value& value) {
  if constexpr (Chosen<Value>) {
    return name_of(value);
  } else if constexpr (std::is_same_v<Value, float>) {
    return decimal(value);
  } else {
    return value;
  }
}

/// Reads one field of an options struct from a JSON object. Throws: as JsonFields does, and Error(kUsage) for a name
/// that is no choice.
template <typename Struct, typename Value>
void read_field(const Field<Struct, Value>& field, const JsonFields& object, Struct& options) {
  Value& value = options.*field.member;
  if constexpr (Chosen<Value>) {
    value = from_name<Value>(object.text(field.name));
  } else if constexpr (std::is_same_v<Value, bool>) {
    value = object.flag(field.name);
  } else if constexpr (std::is_integral_v<Value>) {
    value = object.integer<Value>(field.name);
  } else if constexpr (std::is_floating_point_v<Value>) {
    value = static_cast<Value>(object.number(field.name));
  } else {
    value = object.text(field.name);
  }
}

/// Returns: a JSON object with the fields, those of the groups included, that `chosen` accepts.
template <HasFields Struct, typename Filter>
nlohmann::json json_of_fields(const Struct& options, Filter chosen) {
  nlohmann::json tree = nlohmann::json::object();
  for_each_part<Struct>([&](auto part) {
    PartOf<Struct, decltype(part)>::fields([&](const auto& field) {
      if (chosen(field)) {
        tree[field.name] = json_of(std::invoke(part, options).*field.member);
      }
    });
  });
  return tree;
}

/// Returns: the names of the fields that `chosen` accepts.
template <HasFields Struct, typename Filter>
std::vector<std::string> names_of_fields(Filter chosen) {
  std::vector<std::string> names;
  for_each_part<Struct>([&](auto part) {
    PartOf<Struct, decltype(part)>::fields([&](const auto& field) {
      if (chosen(field)) {
        names.emplace_back(field.name);
      }
    });
  });
  return names;
}

/// Reads the fields that a JSON object has and `chosen` accepts; the other fields stay as they are. Throws: as
/// `read_field` does.
template <HasFields Struct, typename Filter>
void read_fields(const JsonFields& object, Struct& options, Filter chosen) {
  for_each_part<Struct>([&](auto part) {
    PartOf<Struct, decltype(part)>::fields([&](const auto& field) {
      if (chosen(field) && object.has(field.name)) {
        read_field(field, object, std::invoke(part, options));
      }
    });
  });
}

}  // namespace dragoman::base
