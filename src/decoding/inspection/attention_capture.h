#pragma once

#include <string>

#include "decoding/translator.h"
#include "report/attention_page_data.h"

namespace dragoman::decoding {

/// All attention weights of one sentence pair, ready for `attention_page`: the translation is fed once more, teacher
/// forced, and every layer's weights are recorded.
/// @param text  the source line;  @param translation  of that line, by the same translator, not split into parts
/// Throws Error(kUsage): "attention: the text is blank; ..." or "attention: the text has 1,300 tokens, ...".
report::AttentionPageData capture_attention(const Translator& translator, const std::string& text,
                                            const Translation& translation);

}  // namespace dragoman::decoding
