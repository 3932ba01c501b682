#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/names.h"

namespace dragoman::data {

/// The rule that cuts text into words before byte-pair encoding. No merge crosses a cut. Tokenizer files write these
/// rules as regular expressions; here they are scanners, which need no look-back and take linear time.
enum class BpeSplit {
  kNone,    ///< the whole text is one word
  kGpt2,    ///< contractions, letters, digits, other signs, each with one space before it; white space
  kLlama3,  ///< as GPT-2, but contractions in any case, any one sign before letters, digits in threes, ends of lines
  kQwen2,   ///< as Llama-3, but each digit alone
};

constexpr base::Names<BpeSplit> names_of(BpeSplit) {
  return {"split",
          {{BpeSplit::kNone, "none"},
           {BpeSplit::kGpt2, "gpt2"},
           {BpeSplit::kLlama3, "llama3"},
           {BpeSplit::kQwen2, "qwen2"}}};
}

/// Returns the end of the word that begins at `at`. The words of a text, one after another, are the text.
/// Letters and numbers are the Unicode categories L and N, white space is the property White_Space.
/// Requires: `text` is valid UTF-8, at < text.size() and a character begins at `at`.
[[nodiscard]] size_t word_end(BpeSplit split, std::string_view text, size_t at);

/// Returns the regular expression of a split, as tokenizer.json writes it. Requires: `split` is not kNone.
[[nodiscard]] std::string_view pattern_of(BpeSplit split);

/// Returns the split whose regular expression is `pattern`; empty for any other expression.
[[nodiscard]] std::optional<BpeSplit> split_of_pattern(std::string_view pattern);

/// Returns the end of the part that begins at `at` when numbers are cut from all else: a run of numbers or a run of
/// other characters. @param individual  each number is a part of its own
/// Requires: as word_end.
[[nodiscard]] size_t digits_end(bool individual, std::string_view text, size_t at);

}  // namespace dragoman::data
