#pragma once

#include <CLI/CLI.hpp>

#include "models/languages.h"

namespace dragoman::cli {

/// Adds --source-language and --target-language, of a model that translates between several languages. `languages` gets
/// what the command line gives.
void add_language_flags(CLI::App& command, models::LanguagePair& languages);

}  // namespace dragoman::cli
