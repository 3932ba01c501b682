#include "cli/study_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/nearest_name.h"

namespace dragoman::cli {

using base::check_usage;

namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The number of the first line with a tab in its indentation; 0 if there is none.
size_t line_with_tab(const std::filesystem::path& path) {
  std::ifstream file(path);
  size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.find('\t') < line.find_first_not_of(" \t")) {
      return number;
    }
  }
  return 0;
}

}  // namespace

YAML::Node read_study_tree(const std::filesystem::path& path) try {
  return read_yaml(path, "study");
} catch (const base::Error&) {
  const size_t line = line_with_tab(path);
  check_usage(line == 0, "{}: line {}: the indentation has a tab; YAML takes blanks alone", path.string(), line);
  throw;
}

StudyYaml::Entries StudyYaml::entries(const YAML::Node& node, const std::vector<std::string>& known,
                                      const std::string& what) const {
  check_usage(node.IsMap(), "{}: {} must hold lines of the form \"name: value\"", place_of(node, file_),
              what.empty() ? "the file" : what);
  Entries all;
  for (const auto& entry : node) {
    const std::string place = place_of(entry.first, file_);
    if (!known.empty()) {
      check_is_no_decimal(entry.first, entry.second);
    }
    std::string key = known.empty() ? name_of(entry.first) : known_key(entry.first, known, place);
    const bool is_new = std::ranges::count(all, key, &Entries::value_type::first) == 0;
    check_usage(is_new, "{}: {} is given a second time; keep one", place, key);
    all.emplace_back(std::move(key), entry.second);
  }
  return all;
}

void StudyYaml::check_is_no_decimal(const YAML::Node& key, const YAML::Node& value) const {
  check_usage(!key.IsScalar() || !value.IsNull() || !is_number(key.Scalar()),
              "{}: \"{}\" has no value; if it is a part of a number, write the number with a point, as 0.1", place(key),
              key.Scalar());
}

// Names become names of folders and files.
std::string StudyYaml::name_of(const YAML::Node& node) const {
  const std::string place = place_of(node, file_);
  check_usage(node.IsScalar(), "{}: a name must be a word", place);
  std::string name = node.Scalar();
  constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  check_usage(!name.empty() && name.front() != '.' && name.find_first_not_of(kLetters) == std::string::npos,
              "{}: the name \"{}\" may have letters a to z and A to Z, digits, and - _ . inside", place, name);
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
    check_usage(end != std::string::npos, "{}: \"{}\" has a {{ without a }}; a variable is named as {{name}}", place,
                text);
    const std::string name = text.substr(begin + 1, end - begin - 1);
    const auto variable = variables_.find(name);
    check_usage(variable != variables_.end() || std::ranges::count(expected_variables_, name) == 0,
                "{}: \"{}\" names the variable \"{}\", which stands later; a variable may name those before it", place,
                text, name);
    check_usage(variable != variables_.end(), "{}: \"{}\" names the variable \"{}\", which is not under variables{}",
                place, text, name, base::did_you_mean(name, variable_names()));
    text.replace(begin, end - begin + 1, variable->second);
    begin += variable->second.size();
  }
  return text;
}

std::string StudyYaml::decimal_hint(const std::string& text) {
  const size_t comma = text.find(',');
  const std::string whole = text.substr(0, comma), rest = comma == std::string::npos ? "" : text.substr(comma + 1);
  return is_number(whole) && is_number(rest) ? fmt::format("; write {}.{}, with a point", whole, rest) : "";
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
