#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dragoman::data {

/// What BERT does with a text before it is cut into words.
struct BertCleaning {
  bool cleans = true;          ///< control characters go, each white space becomes a blank
  bool spaces_chinese = true;  ///< a blank before and behind each Chinese character
  bool strips_accents = true;  ///< characters are decomposed, non-spacing marks go
  bool lower_cases = true;     ///< character by character, without regard to its neighbours

  bool operator==(const BertCleaning&) const = default;
};

/// Returns `text` after these steps, in their order. A category of characters is that of Unicode 8, as in the
/// `tokenizers` package: later characters are neither marks nor control characters. Requires: `text` is valid UTF-8.
/// Source: Devlin et al. 2019, "BERT", the authors' program.
[[nodiscard]] std::string bert_cleaned(std::string_view text, const BertCleaning& cleaning);

/// A word of BERT: a run without white space and punctuation, or one punctuation mark. All of ASCII's signs are
/// punctuation. [begin, end) in bytes; begin == end behind the last word.
struct BertWord {
  size_t begin = 0;
  size_t end = 0;
};

/// Returns the first word of `text` that begins at or behind byte `at`. Requires: `text` is valid UTF-8.
[[nodiscard]] BertWord next_bert_word(std::string_view text, size_t at);

}  // namespace dragoman::data
