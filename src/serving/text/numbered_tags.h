#pragma once

#include <vector>

#include "serving/text/lexeme.h"

namespace dragoman::serving {

/// Finds the numbered tags by which programs name the parts of a message, which HTML reads as text and comments: "<0>"
/// with a later "</0>", and "<0/>". Each becomes a start tag or an end tag. A start tag without an end stays text, and
/// an end tag without a start stays a comment.
[[nodiscard]] std::vector<Lexeme> with_numbered_tags(std::vector<Lexeme> lexemes);

}  // namespace dragoman::serving
