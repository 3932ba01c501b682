#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/vocabulary/tokenizer_spec.h"

namespace dragoman::data {

/// Returns `text` after all steps. Requires: `text` is valid UTF-8.
[[nodiscard]] std::string normalized(std::string_view text, const std::vector<NormalizerStep>& steps);

/// Receives one word. The view is valid during the call.
using UseWord = std::function<void(std::string_view word)>;

/// Calls use(word) for each word that the steps make of `text`, in the order of the text. Without steps the text is one
/// word. @param is_first  `text` begins where the whole text begins
/// Requires: `text` is valid UTF-8 and not empty.
void split_words(std::string_view text, bool is_first, const std::vector<SplitStep>& steps, const UseWord& use);

/// Returns `text` with each `from` replaced by `to`, from left to right. Requires: `from` is not empty.
[[nodiscard]] std::string replaced(std::string_view text, std::string_view from, std::string_view to);

}  // namespace dragoman::data
