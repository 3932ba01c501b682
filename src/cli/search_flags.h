#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "decoding/search/options.h"
#include "kernels/precision.h"

namespace dragoman::cli {

/// A flag for every field of SearchOptions that decides a translation, under the field's name. What is not given is
/// left to the model. Must live until the command has run; the command line fills it.
class SearchFlags {
 public:
  explicit SearchFlags(CLI::App& command);
  SearchFlags(const SearchFlags&) = delete;
  SearchFlags& operator=(const SearchFlags&) = delete;

  /// `defaults` (of a model), with the flags that were given laid over.
  decoding::SearchOptions over(decoding::SearchOptions defaults) const;

 private:
  template <typename Field>
  void add(CLI::App& command, const char* name, Field decoding::SearchOptions::*field, const std::string& help);
  template <typename Field>
  void apply_if_given(const CLI::Option* option, Field decoding::SearchOptions::*field);

  decoding::SearchOptions given_;
  std::vector<std::function<void(decoding::SearchOptions&)>> appliers_;
};

/// Adds --batch-tokens and --workers.
void add_speed_flags(CLI::App& command, int64_t& batch_tokens, int& workers);
/// Adds --threads-per-worker.
void add_team_flag(CLI::App& command, int& threads_per_worker);

/// Adds --precision. Left empty for `auto`: as the folder stores the weights.
void add_precision_flag(CLI::App& command, std::optional<kernels::Precision>& precision);

}  // namespace dragoman::cli
