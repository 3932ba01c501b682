#include "data/chat/template_text.h"

#include <unicode/locid.h>
#include <unicode/unistr.h>

#include <algorithm>

#include "base/utf8.h"

namespace dragoman::data {
namespace {

icu::UnicodeString to_icu(std::string_view text) {
  return icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())});
}

std::string from_icu(const icu::UnicodeString& text) {
  std::string utf8;
  text.toUTF8String(utf8);
  return utf8;
}

}  // namespace

bool is_python_space(char32_t character) {
  return (character >= 0x09 && character <= 0x0D) || (character >= 0x1C && character <= 0x20) || character == 0x85 ||
         character == 0xA0 || character == 0x1680 || (character >= 0x2000 && character <= 0x200A) ||
         character == 0x2028 || character == 0x2029 || character == 0x202F || character == 0x205F ||
         character == 0x3000;
}

std::string_view stripped(std::string_view text, TextEnds ends) {
  while (ends != TextEnds::kRight && !text.empty()) {
    const base::CodePoint first = base::code_point_at(text, 0);
    if (!is_python_space(first.value)) {
      break;
    }
    text.remove_prefix(first.bytes);
  }
  while (ends != TextEnds::kLeft && !text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && (text[begin] & 0xC0) == 0x80) {
      --begin;
    }
    if (!is_python_space(base::code_point_at(text, begin).value)) {
      break;
    }
    text.remove_suffix(text.size() - begin);
  }
  return text;
}

std::string stripped(std::string_view text, std::string_view removed, TextEnds ends) {
  const std::u32string characters = base::decode_utf8(text);
  const std::u32string set = base::decode_utf8(removed);
  size_t begin = 0, end = characters.size();
  while (ends != TextEnds::kRight && begin < end && set.find(characters[begin]) != std::u32string::npos) {
    ++begin;
  }
  while (ends != TextEnds::kLeft && begin < end && set.find(characters[end - 1]) != std::u32string::npos) {
    --end;
  }
  return base::encode_utf8(std::u32string_view(characters).substr(begin, end - begin));
}

std::vector<std::string> words_of(std::string_view text) {
  const std::u32string characters = base::decode_utf8(text);
  std::vector<std::string> words;
  std::u32string word;
  const auto end_word = [&] {
    if (!word.empty()) {
      words.push_back(base::encode_utf8(word));
      word.clear();
    }
  };
  for (const char32_t character : characters) {
    if (is_python_space(character)) {
      end_word();
    } else {
      word += character;
    }
  }
  end_word();
  return words;
}

std::string upper_case(std::string_view text) {
  return from_icu(to_icu(text).toUpper(icu::Locale::getRoot()));
}

std::string lower_case(std::string_view text) {
  return from_icu(to_icu(text).toLower(icu::Locale::getRoot()));
}

std::string capitalized(std::string_view text) {
  if (text.empty()) {
    return {};
  }
  const size_t first = base::code_point_at(text, 0).bytes;
  return upper_case(text.substr(0, first)) + lower_case(text.substr(first));
}

// A word begins behind white space and behind one of -({[<.
std::string title_case(std::string_view text) {
  const std::u32string characters = base::decode_utf8(text);
  std::string result;
  size_t begin = 0;
  for (size_t end = 0; end <= characters.size(); ++end) {
    const bool is_border = end == characters.size() || is_python_space(characters[end]) ||
                           std::u32string_view(U"-({[<").find(characters[end]) != std::u32string_view::npos;
    if (!is_border) {
      continue;
    }
    result += capitalized(base::encode_utf8(std::u32string_view(characters).substr(begin, end - begin)));
    if (end < characters.size()) {
      result += base::encode_utf8({&characters[end], 1});
    }
    begin = end + 1;
  }
  return result;
}

}  // namespace dragoman::data
