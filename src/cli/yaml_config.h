#pragma once

#include <CLI/CLI.hpp>

namespace dragoman::cli {

/// Lets CLI11 read option values from a YAML mapping: `beam_size: 4` and `beam-size: 4` both set --beam-size.
/// Values are scalars or lists of scalars. Throws base::Error(kUsage) naming file, line and rule.
class YamlConfig : public CLI::Config {
 public:
  explicit YamlConfig(const CLI::App& command) : command_(command) {}
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;
  std::string to_config(const CLI::App* app, bool default_also, bool write_description,
                        std::string prefix) const override;

 private:
  const CLI::App& command_;
};

}  // namespace dragoman::cli
