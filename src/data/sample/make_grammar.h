#pragma once

#include <memory>
#include <string_view>

#include "data/sample/grammar.h"
#include "data/sample/lexicon.h"

namespace dragoman::data::sample {

/// Returns the grammar of a pair of languages: "en-de", "en-zh" or "zh-en". Requires: `lexicon` outlives the grammar.
/// Throws: Error(kUsage), "sample-corpus: --pair fr-xx is unknown; choose one of: en-de, en-zh, zh-en".
std::unique_ptr<Grammar> make_grammar(std::string_view pair, const Lexicon& lexicon);

}  // namespace dragoman::data::sample
