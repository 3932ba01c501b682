#pragma once

#include <string>

#include "report/attention_page_data.h"

namespace dragoman::report {

/// Returns HTML with one figure for each layer: the encoder self-attention from the piece that equals `data.from_word`.
/// Throws: Error(kUsage), "attention: no piece of the sentence spells 'it'; its pieces are The, animal, ...".
std::string attention_from_word(const AttentionPageData& data);

}  // namespace dragoman::report
