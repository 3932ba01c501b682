#pragma once

#include <algorithm>
#include <string>

#include "base/utf8.h"

namespace dragoman::data {

/// Returns the text as one line of valid UTF-8: line breaks and NUL, which pieces of bytes can spell, become spaces.
inline std::string as_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  return base::is_valid_utf8(text) ? text : base::repair_utf8(text);
}

}  // namespace dragoman::data
