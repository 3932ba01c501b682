#include "cli/yaml_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/nearest_name.h"
#include "cli/usage_error.h"

namespace dragoman::cli {

using base::check_usage;
using base::ErrorKind;
using base::fail;

namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{1} << 20;

// A configuration that cannot be read is wrong usage, not bad data.
std::string read_text(const std::string& file, const std::string& owner) try {
  return base::read_file(file, kMaxFileBytes);
} catch (const base::Error& error) {
  fail(ErrorKind::kUsage, "{}: {}", owner, error.what());
}

}  // namespace

YAML::Node read_yaml(const std::filesystem::path& path, const std::string& owner) {
  const std::string text = read_text(path.string(), owner);
  check_usage(text.find('\0') == std::string::npos, "{}: has a NUL byte, so it is no YAML", path.string());
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    check_usage(documents.size() <= 1, "{}: has {} documents, which \"---\" separates; keep one", path.string(),
                documents.size());
    return documents.empty() ? YAML::Node() : documents.front();
  } catch (const YAML::Exception& error) {
    fail(ErrorKind::kUsage, "{}: line {}: not valid YAML: {}", path.string(), error.mark.line + 1, error.msg);
  }
}

std::string place_of(const YAML::Node& node, const std::string& file) {
  return fmt::format("{}: line {}", file, node.Mark().line + 1);
}

std::string known_key(const YAML::Node& name, const std::vector<std::string>& known, const std::string& place) {
  check_usage(name.IsScalar(), "{}: the key must be the name of an option", place);
  std::string key = name.Scalar();
  std::ranges::replace(key, '_', '-');
  check_usage(std::ranges::find(known, key) != known.end(), "{}: unknown key \"{}\"{}", place, name.Scalar(),
              base::did_you_mean(key, known));
  return key;
}

std::vector<std::string> scalars(const YAML::Node& value, const std::string& place, const std::string& key) {
  if (value.IsScalar()) {
    return {value.Scalar()};
  }
  check_usage(value.IsSequence() && value.size() > 0, "{}: {} needs a value or a list of values", place, key);
  std::vector<std::string> texts;
  for (const YAML::Node& item : value) {
    check_usage(item.IsScalar(), "{}: {} holds something nested; give a plain list of values", place, key);
    texts.push_back(item.Scalar());
  }
  return texts;
}

void check_option_values(const CLI::Option& option, const std::string& key, const std::vector<std::string>& values,
                         const std::string& place) {
  const auto most = static_cast<size_t>(std::max(option.get_items_expected_max(), 1));
  check_usage(values.size() <= most, "{}: {} takes {} value{}, {} are given", place, key, most, most == 1 ? "" : "s",
              values.size());
  if (option.get_items_expected_max() == 0) {
    check_usage(values.front() == "true" || values.front() == "false", "{}: {} is \"{}\", must be true or false", place,
                key, values.front());
    return;
  }
  for (const std::string& value : values) {
    const std::string rule = broken_rule(option, value);
    check_usage(rule.empty(), "{}: {} is \"{}\", {}", place, key, value, rule);
  }
}

}  // namespace dragoman::cli
