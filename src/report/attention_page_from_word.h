#pragma once

#include <string>

#include "report/attention_page_data.h"

namespace dragoman::report {

/// Encoder self-attention of `data` from the piece that spells `data.from_word`: one figure a layer, as HTML.
/// Throws Error(kUsage): "attention: no piece of the sentence spells 'it'; its pieces are The, animal, ...".
std::string attention_from_word(const AttentionPageData& data);

}  // namespace dragoman::report
