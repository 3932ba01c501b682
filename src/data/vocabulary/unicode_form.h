#pragma once

#include <string>

namespace dragoman::data {

/// A normalisation form of Unicode.
enum class UnicodeForm { kNfc, kNfd, kNfkc, kNfkd };

/// Returns `text` in a form. Requires: `text` is valid UTF-8. Source: Unicode Standard Annex 15.
[[nodiscard]] std::string in_form(const std::string& text, UnicodeForm form);

}  // namespace dragoman::data
