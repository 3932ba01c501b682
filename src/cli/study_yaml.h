#pragma once

#include <yaml-cpp/yaml.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/yaml_tree.h"

namespace dragoman::cli {

/// Returns the tree of the file of a study. Throws: Error(kUsage) as read_yaml, and "trial.yaml: line 3: the
/// indentation has a tab; YAML takes blanks alone", of which YAML itself says that a value is wrong.
YAML::Node read_study_tree(const std::filesystem::path& path);

/// Reads the parts of a YAML file in which {name} stands for the value of a variable. Errors name file and line.
class StudyYaml {
 public:
  using Entries = std::vector<std::pair<std::string, YAML::Node>>;

  explicit StudyYaml(std::string file) : file_(std::move(file)) {}

  /// Returns the entries of a mapping. @param known  its keys; empty: each key is a name that the user chose, of
  /// letters, digits and - _ . inside. @param what  the mapping, in errors; empty: the file
  Entries entries(const YAML::Node& node, const std::vector<std::string>& known, const std::string& what) const;
  /// Checks that a key is not the rest of 0,1, which between braces is a key without a value.
  void check_is_no_decimal(const YAML::Node& key, const YAML::Node& value) const;
  std::string name_of(const YAML::Node& node) const;

  /// Return the scalars of a list, or one scalar, with variables filled in.
  std::vector<std::string> values(const YAML::Node& node, const std::string& key) const;
  std::string value(const YAML::Node& node, const std::string& key) const;

  /// @param rule  "a number", for errors
  template <typename Type>
  Type value_as(const YAML::Node& node, const std::string& key, const char* rule) const {
    const std::string text = value(node, key);
    Type result{};
    base::check_usage(YAML::convert<Type>::decode(YAML::Node(text), result), "{}: {} is \"{}\", must be {}{}",
                      place(node), key, text, rule, decimal_hint(text));
    return result;
  }
  bool flag(const YAML::Node& node, const std::string& key) const { return value_as<bool>(node, key, "true or false"); }

  std::string place(const YAML::Node& node) const { return place_of(node, file_); }
  const std::string& file() const { return file_; }
  std::map<std::string, std::string>& variables() { return variables_; }
  std::vector<std::string> variable_names() const;
  /// Returns a text with variables filled in. Throws: Error(kUsage), "trial.yaml: line 3: "val.{form}" names the
  /// variable "form", which is not under variables; did you mean "from"?".
  std::string filled(std::string text, const std::string& place) const;
  /// Says the names of all variables before they are read, so that one that stands later is known as such.
  void expect_variables(std::vector<std::string> names) { expected_variables_ = std::move(names); }

  /// Returns "; write 0.1, with a point" for a number with a decimal comma, otherwise nothing.
  static std::string decimal_hint(const std::string& text);

 private:
  std::string file_;
  std::map<std::string, std::string> variables_;
  std::vector<std::string> expected_variables_;
};

}  // namespace dragoman::cli
