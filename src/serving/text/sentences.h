#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace dragoman::serving {

/// Whether a line is cut into its sentences. A model that was trained on single sentences drops everything after the
/// first one.
enum class Sentences { kApart, kTogether };

/// Returns the ends of the sentences of a line, each as the offset behind the last byte, without the end of the line.
/// - A sentence ends with . ! ? or …, and the closing quotes and brackets behind it. It needs blanks behind it, and
/// then a
///   capital letter, a letter of a script without capitals, or an opening quote or bracket.
/// - A sentence also ends behind 。！？, whatever follows.
/// - A full stop behind a single letter, a number of one or two digits or a common abbreviation (Mr, z.B.) ends none.
/// - Both sides of an end have a letter or a digit.
/// Requires: `line` is valid UTF-8.
[[nodiscard]] std::vector<size_t> sentence_ends(std::string_view line);

}  // namespace dragoman::serving
