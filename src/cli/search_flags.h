#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "cli/field_flags.h"
#include "decoding/search/options.h"
#include "kernels/precision.h"

namespace dragoman::cli {

/// The flags of the fields of SearchOptions that decide a translation. A flag that is not given leaves the field to the
/// model. Must live until the command has run.
class SearchFlags {
 public:
  explicit SearchFlags(CLI::App& command);

  /// Returns: `defaults` (of a model), with the flags that were given laid over.
  decoding::SearchOptions over(decoding::SearchOptions defaults) const { return flags_.over(std::move(defaults)); }

 private:
  FieldFlags<decoding::SearchOptions> flags_;
};

/// Adds the flag of one field of a group of SearchOptions, for a command that has it beside those of
/// SearchFlags.
template <typename Options, typename Value>
CLI::Option* add_search_flag(CLI::App& command, Value Options::*member, Value& value) {
  return add_field(command, base::field_of(member), value);
}

/// Adds --batch-tokens and --workers.
void add_speed_flags(CLI::App& command, int64_t& batch_tokens, int& workers);
/// Adds --threads-per-worker.
void add_team_flag(CLI::App& command, int& threads_per_worker);

/// Adds --precision. Left empty for `auto`: as the folder stores the weights.
void add_precision_flag(CLI::App& command, std::optional<kernels::Precision>& precision);

}  // namespace dragoman::cli
