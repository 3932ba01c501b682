#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace dragoman::serving {

/// Whether a line is cut into its sentences: models learn from sentences, and drop what stands behind the first.
enum class Sentences { kApart, kTogether };

/// Where the sentences of a line end: the places behind their last bytes, the line's end not among them; blanks follow.
/// A sentence ends with . ! ? or … and what closes quotes and brackets, when blanks and then a capital letter, a letter
/// of a script without capitals, or what opens quotes and brackets follow; and behind 。！？ whatever follows. A full
/// stop behind one letter, behind a number of one or two digits and behind common abbreviations (Mr, z.B., ...) ends
/// none. Both sides of an end have a letter or digit. @param line  valid UTF-8
std::vector<size_t> sentence_ends(std::string_view line);

}  // namespace dragoman::serving
