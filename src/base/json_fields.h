#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/json.h"

namespace dragoman::base {

/// Returns: a value as JSON. Enumerations are their names.
template <typename Value>
nlohmann::json json_of(const Value& value) {
  if constexpr (Chosen<Value>) {
    return name_of(value);
  } else {
    return value;
  }
}

/// Whether a JSON value is an integer of at most 31 bits: no option needs more, and no double loses any.
inline bool is_small_integer(const nlohmann::json& value) {
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  if (value.is_number_unsigned()) {
    return value.get<uint64_t>() <= uint64_t{kMost};
  }
  return value.is_number_integer() && value.get<int64_t>() >= -kMost;
}

/// Reads one field from a JSON value. Throws Error(kBadData): "config.json: d_ff must be an integer, is 2048.5".
/// Throws Error(kUsage) for a name that is no choice.
template <typename Struct, typename Value>
void read_field(const Field<Struct, Value>& field, const nlohmann::json& value, std::string_view file_name,
                Struct& options) {
  const auto require = [&](bool holds, const char* kind) {
    check_data(holds, "{}: {} must be {}, is {}", file_name, field.name, kind, dump_json(value));
  };
  if constexpr (Chosen<Value>) {
    require(value.is_string(), "a string");
    options.*field.member = from_name<Value>(value.get<std::string>());
  } else {
    if constexpr (std::is_same_v<Value, bool>) {
      require(value.is_boolean(), "true or false");
    } else if constexpr (std::is_integral_v<Value>) {
      require(is_small_integer(value), "an integer");
    } else if constexpr (std::is_floating_point_v<Value>) {
      require(value.is_number(), "a number");
    } else {
      require(value.is_string(), "a string");
    }
    options.*field.member = value.get<Value>();
  }
}

/// Returns: a JSON object with the fields that `chosen` accepts.
template <HasFields Struct, typename Filter>
nlohmann::json json_of_fields(const Struct& options, Filter chosen) {
  nlohmann::json tree = nlohmann::json::object();
  Struct::fields([&](const auto& field) {
    if (chosen(field)) {
      tree[field.name] = json_of(options.*field.member);
    }
  });
  return tree;
}

/// Reads a JSON object whose keys name fields that `chosen` accepts; the other fields stay as they are. Throws as
/// `read_field` does, and Error(kBadData): "config.json: unknown key \"d_modle\"; did you mean \"d_model\"?".
template <HasFields Struct, typename Filter>
void read_fields(const nlohmann::json& tree, std::string_view file_name, Struct& options, Filter chosen) {
  check_data(tree.is_object(), "{}: must be a JSON object", file_name);
  std::vector<std::string> known;
  Struct::fields([&](const auto& field) {
    if (chosen(field)) {
      known.emplace_back(field.name);
    }
  });
  for (const auto& [key, value] : tree.items()) {
    check_data(std::find(known.begin(), known.end(), key) != known.end(),
               "{}: unknown key \"{}\"; did you mean \"{}\"?", file_name, key, nearest_name(key, known));
  }
  Struct::fields([&](const auto& field) {
    if (tree.contains(field.name)) {
      read_field(field, tree[field.name], file_name, options);
    }
  });
}

}  // namespace dragoman::base
