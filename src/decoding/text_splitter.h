#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/vocabulary/vocabulary.h"

namespace dragoman::decoding {

/// Cuts a line that is too long for the model into parts that are not, losing nothing but blanks at the cuts. Halves
/// it near the middle, at the end of a sentence if there is one, else after a comma, else at a space, else between
/// two characters, until every part fits.
/// @param text  valid UTF-8;  @param max_tokens  source tokens a part may have, the end counted; at least 8
/// @return the parts in order; `text` itself when it fits
std::vector<std::string> split_long_text(const data::Vocabulary& vocabulary, std::string_view text, size_t max_tokens);

}  // namespace dragoman::decoding
