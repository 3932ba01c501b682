#pragma once

#include <string>

#include "report/attention_page_data.h"

namespace dragoman::report {

/// Returns HTML with one figure for each layer: the encoder self-attention from the word `data.from_word`, which may
/// have several pieces. Throws: Error(kUsage) as find_word.
std::string attention_from_word(const AttentionPageData& data);

}  // namespace dragoman::report
