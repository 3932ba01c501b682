#include "cli/study_yaml.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest_name.h"

namespace dragoman::cli {

using base::check_usage;

StudyYaml::Entries StudyYaml::entries(const YAML::Node& node, const std::vector<std::string>& known,
                                      const std::string& what) const {
  check_usage(node.IsMap(), "{}: {} must hold lines of the form \"name: value\"", place_of(node, file_),
              what.empty() ? "the file" : what);
  Entries all;
  for (const auto& entry : node) {
    const std::string place = place_of(entry.first, file_);
    std::string key = known.empty() ? name_of(entry.first) : known_key(entry.first, known, place);
    const bool is_new = std::ranges::count(all, key, &Entries::value_type::first) == 0;
    check_usage(is_new, "{}: {} is given a second time; keep one", place, key);
    all.emplace_back(std::move(key), entry.second);
  }
  return all;
}

// Names become names of folders and files.
std::string StudyYaml::name_of(const YAML::Node& node) const {
  const std::string place = place_of(node, file_);
  check_usage(node.IsScalar(), "{}: a name must be a word", place);
  std::string name = node.Scalar();
  constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  check_usage(!name.empty() && name.front() != '.' && name.find_first_not_of(kLetters) == std::string::npos,
              "{}: the name \"{}\" may have letters, digits, and - _ . inside", place, name);
  return name;
}

std::vector<std::string> StudyYaml::variable_names() const {
  std::vector<std::string> names;
  std::ranges::transform(variables_, std::back_inserter(names), [](const auto& each) { return each.first; });
  return names;
}

// {from} is the value of the variable.
std::string StudyYaml::filled(std::string text, const std::string& place) const {
  for (size_t begin = text.find('{'); begin != std::string::npos; begin = text.find('{', begin)) {
    const size_t end = text.find('}', begin);
    const std::string name = end == std::string::npos ? "" : text.substr(begin + 1, end - begin - 1);
    const auto variable = variables_.find(name);
    check_usage(variable != variables_.end(), "{}: \"{}\" names the variable \"{}\", which is not under variables{}",
                place, text, name, base::did_you_mean(name, variable_names()));
    text.replace(begin, end - begin + 1, variable->second);
    begin += variable->second.size();
  }
  return text;
}

std::vector<std::string> StudyYaml::values(const YAML::Node& node, const std::string& key) const {
  const std::string place = place_of(node, file_);
  std::vector<std::string> all = scalars(node, place, key);
  for (std::string& value : all) {
    value = filled(std::move(value), place);
  }
  return all;
}

std::string StudyYaml::value(const YAML::Node& node, const std::string& key) const {
  const std::vector<std::string> all = values(node, key);
  check_usage(all.size() == 1, "{}: {} takes one value", place_of(node, file_), key);
  return all.front();
}

}  // namespace dragoman::cli
