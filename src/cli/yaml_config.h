#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>

namespace dragoman::cli {

/// Sets the options of `command` that the command line left out from a YAML mapping: `beam_size: 4` and `beam-size: 4`
/// both mean --beam-size 4. Values are scalars or, for options that take several, lists of scalars; flags take true or
/// false. To be called from the callback of an option declared before all others, so that theirs run afterwards.
/// Throws Error(kUsage): "train.yaml: line 3: unknown key "beam_sice"; did you mean "beam-size"?", a key given twice,
/// nested values, bad YAML, a file that cannot be read or has more than 1 MiB.
void apply_yaml_config(CLI::App& command, const std::filesystem::path& path);

}  // namespace dragoman::cli
