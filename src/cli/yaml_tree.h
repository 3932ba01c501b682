#pragma once

#include <yaml-cpp/yaml.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace dragoman::cli {

/// Returns the tree of a YAML file. Throws: Error(kUsage) for a file that cannot be read or has more than 1 MiB, and
/// "norms.yaml: line 3: not valid YAML: ...".
YAML::Node read_yaml(const std::filesystem::path& path, const std::string& owner);

/// Returns "norms.yaml: line 3", for errors about a node.
std::string place_of(const YAML::Node& node, const std::string& file);

/// Returns the known name that a key stands for; "_" and "-" are the same.
/// Throws: Error(kUsage), "train.yaml: line 3: unknown key "beam_sice"; did you mean "beam-size"?".
std::string known_key(const YAML::Node& name, const std::vector<std::string>& known, const std::string& place);

/// Returns a scalar, or the scalars of a list. Throws: Error(kUsage) for an empty list and for nested values.
std::vector<std::string> scalars(const YAML::Node& value, const std::string& place, const std::string& key);

/// Checks values for an option as if they stood on the command line: their number and each one. A flag takes true or
/// false. Throws: Error(kUsage), "train.yaml: line 3: dropout is "much", must be a number".
void check_option_values(const CLI::Option& option, const std::string& key, const std::vector<std::string>& values,
                         const std::string& place);

}  // namespace dragoman::cli
