#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/field_json.h"
#include "base/json.h"

namespace dragoman::models {

inline constexpr const char* kArchitectureKey = "architecture";
inline constexpr auto kEveryField = [](const auto&) { return true; };

/// Reads the struct of one architecture from the text of config.json. Keys of `optional` may be missing.
/// Throws: Error(kBadData) naming file and key: for an unknown or missing key, another architecture, a wrong type, and
/// whatever Config::check() refuses.
template <typename Config>
Config read_config(std::string_view text, std::string_view file_name, const std::vector<std::string>& optional) try {
  const nlohmann::json tree = base::parse_json(text, file_name);
  const base::JsonFields fields(tree, std::string(file_name));
  std::vector<std::string> known = base::names_of_fields<Config>(kEveryField);
  known.emplace_back(kArchitectureKey);
  if (tree.contains(kArchitectureKey)) {  // keys of another architecture would be unknown ones
    base::check_data(fields.text(kArchitectureKey) == Config::kArchitecture,
                     "{}: architecture is \"{}\", must be \"{}\"", file_name, fields.text(kArchitectureKey),
                     Config::kArchitecture);
  }
  fields.check_known(known);
  for (const std::string& key : known) {
    if (std::ranges::find(optional, key) == optional.end()) {
      static_cast<void>(fields.value(key));
    }
  }
  Config config;
  base::read_fields(fields, config, kEveryField);
  config.check();
  return config;
} catch (const base::Error& error) {
  if (error.kind() == base::ErrorKind::kBadData) {
    throw;
  }
  base::fail(base::ErrorKind::kBadData, "{}: {}", file_name, error.what());
}

}  // namespace dragoman::models
