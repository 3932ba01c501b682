#pragma once

#include <string>

#include "decoding/generator.h"
#include "decoding/translator.h"
#include "report/attention_page_data.h"

namespace dragoman::decoding {

/// All attention weights of one sentence pair, ready for `attention_page`: the translation is fed once more, teacher
/// forced, and every layer's weights are recorded.
/// @param text  the source line;  @param translation  of that line, by the same translator, not split into parts
/// @param languages  with which it was translated
/// Throws Error(kUsage): "attention: the text is blank; ..." or "attention: the text has 1,300 tokens, ...".
report::AttentionPageData capture_attention(const Translator& translator, const std::string& text,
                                            const Translation& translation, const LanguageTokens& languages = {});

/// All attention weights of one text of a language model: the prompt and its continuation are read once more in one
/// pass. The grid `decoder_self` has them; the others stay empty. `source_text` is the prompt, `translation` the new
/// text.
/// @param prompt  its text;  @param continuation  of that prompt, by the same generator
/// Throws Error(kUsage): "attention: the prompt is blank; ...".
report::AttentionPageData capture_attention(const Generator& generator, const std::string& prompt,
                                            const Continuation& continuation);

}  // namespace dragoman::decoding
