#pragma once

#include <yaml-cpp/yaml.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/yaml_tree.h"

namespace dragoman::cli {

/// Reads the parts of a YAML file in which {name} stands for the value of a variable. Errors name file and line.
class StudyYaml {
 public:
  using Entries = std::vector<std::pair<std::string, YAML::Node>>;

  explicit StudyYaml(std::string file) : file_(std::move(file)) {}

  /// Returns the entries of a mapping. @param known  its keys; empty: each key is a name that the user chose, of
  /// letters, digits and - _ . inside. @param what  the mapping, in errors; empty: the file
  Entries entries(const YAML::Node& node, const std::vector<std::string>& known, const std::string& what) const;
  std::string name_of(const YAML::Node& node) const;

  /// Return the scalars of a list, or one scalar, with variables filled in.
  std::vector<std::string> values(const YAML::Node& node, const std::string& key) const;
  std::string value(const YAML::Node& node, const std::string& key) const;

  /// @param rule  "a number", for errors
  template <typename Type>
  Type value_as(const YAML::Node& node, const std::string& key, const char* rule) const {
    const std::string text = value(node, key);
    Type result{};
    base::check_usage(YAML::convert<Type>::decode(YAML::Node(text), result), "{}: {} is \"{}\", must be {}",
                      place(node), key, text, rule);
    return result;
  }
  bool flag(const YAML::Node& node, const std::string& key) const { return value_as<bool>(node, key, "true or false"); }

  std::string place(const YAML::Node& node) const { return place_of(node, file_); }
  const std::string& file() const { return file_; }
  std::map<std::string, std::string>& variables() { return variables_; }
  std::vector<std::string> variable_names() const;

 private:
  std::string filled(std::string text, const std::string& place) const;

  std::string file_;
  std::map<std::string, std::string> variables_;
};

}  // namespace dragoman::cli
