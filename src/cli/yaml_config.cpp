#include "cli/yaml_config.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/nearest_name.h"
#include "cli/usage_error.h"

namespace dragoman::cli {
namespace {

using base::check_usage;
using base::ErrorKind;
using base::fail;

constexpr uint64_t kMaxConfigBytes = uint64_t{1} << 20;

// A configuration that cannot be read is wrong usage, not bad data.
std::string read_config(const std::string& file) try {
  return base::read_file(file, kMaxConfigBytes);
} catch (const base::Error& error) {
  fail(ErrorKind::kUsage, "--config: {}", error.what());
}

YAML::Node parse_yaml(const std::string& text, const std::string& file) try {
  return YAML::Load(text);
} catch (const YAML::Exception& error) {
  fail(ErrorKind::kUsage, "{}: line {}: not valid YAML: {}", file, error.mark.line + 1, error.msg);
}

// The option that a key names; "_" and "-" are the same.
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

// Gives the option its values as if they stood on the command line.
void set_option(CLI::Option& option, const std::string& key, const std::vector<std::string>& values,
                const std::string& place) {
  const auto most = static_cast<size_t>(std::max(option.get_items_expected_max(), 1));
  check_usage(values.size() <= most, "{}: {} takes {} value{}, {} are given", place, key, most, most == 1 ? "" : "s",
              values.size());
  if (option.get_items_expected_max() > 0) {
    for (const std::string& value : values) {
      const std::string rule = broken_rule(option, value);
      check_usage(rule.empty(), "{}: {} is \"{}\", {}", place, key, value, rule);
    }
    option.add_result(values);
    return;
  }
  const std::string& value = values.front();
  check_usage(value == "true" || value == "false", "{}: {} is \"{}\", must be true or false", place, key, value);
  option.add_result(option.get_flag_value(key, value));
}

}  // namespace

void apply_yaml_config(CLI::App& command, const std::filesystem::path& path) {
  const std::string file = path.string();
  const YAML::Node tree = parse_yaml(read_config(file), file);
  if (tree.IsNull()) {
    return;
  }
  check_usage(tree.IsMap(), "{}: must hold lines of the form \"option: value\"", file);
  const std::vector<std::string> known = option_names(command);
  std::set<std::string> seen;
  for (const auto& entry : tree) {
    const std::string place = fmt::format("{}: line {}", file, entry.first.Mark().line + 1);
    const std::string key = known_key(entry.first, known, place);
    check_usage(seen.insert(key).second, "{}: {} is given a second time; keep one", place, key);
    const std::vector<std::string> values = scalars(entry.second, place, key);
    CLI::Option& option = *command.get_option("--" + key);
    if (option.count() == 0) {
      set_option(option, key, values, place);
    }
  }
}

}  // namespace dragoman::cli
