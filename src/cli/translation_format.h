#pragma once

#include <cstdint>
#include <string>

#include "decoding/translator.h"

namespace dragoman::cli {

/// One JSON object on one line: line, source, source_tokens, text, tokens, token_scores, score, normalised_score,
/// finish_reason, reverse_score (with a reverse model), alignment (source token of each token), attention (matrix, with
/// `soft_alignment`), alternatives, and warning if there is one. Scores are natural logarithms with six decimals.
/// token_scores has one number for each of tokens and one more for the end of the sentence. ends_scored says how many
/// ends: 1; 0 if the search was cut before the end; one a part if the line was translated in parts.
std::string json_line(uint64_t line, const std::string& source, const decoding::Translation& translation,
                      bool soft_alignment);

/// Moses format, one line a candidate, best first: "LINE ||| text ||| log_prob=SUM tokens=N ||| NORMALISED", lines
/// counted from 0; with a reverse model "tokens=N reverse_log_prob=SUM".
std::string moses_lines(uint64_t line, const decoding::Translation& translation);

}  // namespace dragoman::cli
