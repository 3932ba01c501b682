#pragma once

#include <CLI/CLI.hpp>

#include "decoding/options.h"

namespace dragoman::cli {

/// Adds a flag for every field of SearchOptions that decides a translation, under the field's name. `options` must
/// live until the command has run; the command line fills it.
void add_search_flags(CLI::App& command, decoding::SearchOptions& options);

/// Adds --batch-tokens and --workers.
void add_speed_flags(CLI::App& command, int64_t& batch_tokens, int& workers);

}  // namespace dragoman::cli
