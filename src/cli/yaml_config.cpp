#include "cli/yaml_config.h"

#include <set>

#include "base/error.h"
#include "cli/usage_error.h"
#include "cli/yaml_tree.h"

namespace dragoman::cli {
namespace {

using base::check_usage;

// Gives the option its values as if they stood on the command line.
void set_option(CLI::Option& option, const std::string& key, const std::vector<std::string>& values,
                const std::string& place) {
  check_option_values(option, key, values, place);
  option.add_result(option.get_items_expected_max() > 0
                        ? values
                        : std::vector<std::string>{option.get_flag_value(key, values.front())});
}

}  // namespace

void apply_yaml_config(CLI::App& command, const std::filesystem::path& path) {
  const std::string file = path.string();
  const YAML::Node tree = read_yaml(path, "--config");
  if (tree.IsNull()) {
    return;
  }
  check_usage(tree.IsMap(), "{}: must hold lines of the form \"option: value\"", file);
  const std::vector<std::string> known = option_names(command);
  std::set<std::string> seen;
  for (const auto& entry : tree) {
    const std::string place = place_of(entry.first, file);
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
