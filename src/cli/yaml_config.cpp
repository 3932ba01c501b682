#include "cli/yaml_config.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "base/error.h"
#include "models/transformer_config.h"

namespace dragoman::cli {
namespace {

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_lnames().empty()) {
      names.push_back(option->get_lnames().front());
    }
  }
  return names;
}

std::vector<std::string> scalars(const YAML::Node& value, const std::string& key) {
  if (value.IsScalar()) {
    return {value.Scalar()};
  }
  base::check_usage(value.IsSequence(), "--config: line {}: {} must be a value or a list of values",
                    value.Mark().line + 1, key);
  std::vector<std::string> texts;
  for (const YAML::Node& item : value) {
    base::check_usage(item.IsScalar(), "--config: line {}: {} holds something nested", item.Mark().line + 1, key);
    texts.push_back(item.Scalar());
  }
  return texts;
}

}  // namespace

std::vector<CLI::ConfigItem> YamlConfig::from_config(std::istream& input) const try {
  const YAML::Node tree = YAML::Load(input);
  std::vector<CLI::ConfigItem> items;
  if (tree.IsNull()) {
    return items;
  }
  base::check_usage(tree.IsMap(), "--config: the file must hold `option: value` lines");
  const std::vector<std::string> known = option_names(command_);
  for (const auto& [name, value] : tree) {
    std::string key = name.Scalar();
    std::ranges::replace(key, '_', '-');
    base::check_usage(std::ranges::find(known, key) != known.end(),
                      "--config: line {}: unknown key \"{}\"; did you mean \"{}\"?", name.Mark().line + 1,
                      name.Scalar(), models::nearest_name(key, known));
    CLI::ConfigItem item;
    item.name = key;
    item.inputs = scalars(value, key);
    items.push_back(std::move(item));
  }
  return items;
} catch (const YAML::Exception& error) {
  base::fail(base::ErrorKind::kUsage, "--config: not valid YAML: {}", error.what());
}

std::string YamlConfig::to_config(const CLI::App* app, bool default_also, bool, std::string) const {
  YAML::Emitter out;
  out << YAML::BeginMap;
  for (const CLI::Option* option : app->get_options()) {
    if (option->get_lnames().empty() || option->get_lnames().front() == "config" ||
        option->get_lnames().front() == "help") {
      continue;
    }
    if (option->count() > 0 || (default_also && !option->get_default_str().empty())) {
      out << YAML::Key << option->get_lnames().front() << YAML::Value
          << (option->count() > 0 ? CLI::detail::join(option->as<std::vector<std::string>>(), " ")
                                  : option->get_default_str());
    }
  }
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace dragoman::cli
