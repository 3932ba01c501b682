#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "decoding/search/phrases.h"

namespace dragoman::decoding {

/// The text of a token where there is no vocabulary: a character of its own, two bytes long.
inline std::string text_of_id(int32_t id) {
  return base::encode_utf8(std::u32string(1, static_cast<char32_t>(0x100 + id)));
}

/// Phrases of such tokens: to hold the text is to hold the tokens.
inline Phrases phrases_of(const std::vector<std::vector<int32_t>>& runs) {
  Phrases phrases{{}, text_of_id};
  for (const std::vector<int32_t>& run : runs) {
    Phrase phrase;
    for (const int32_t id : run) {
      phrase.text += text_of_id(id);
      phrase.next.insert(phrase.next.end(), {id, -1});
    }
    phrases.all.push_back(phrase);
  }
  return phrases;
}

}  // namespace dragoman::decoding
