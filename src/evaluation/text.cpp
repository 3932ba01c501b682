#include "evaluation/text.h"

#include <unicode/bytestream.h>
#include <unicode/casemap.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/error.h"
#include "base/utf8.h"

namespace dragoman::evaluation {
namespace {

bool is_ascii_space(unsigned char byte) {
  return byte == ' ' || (byte >= 0x09 && byte <= 0x0D) || (byte >= 0x1C && byte <= 0x1F);
}

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0) == 0x80;
}

// Bytes of the white-space character at `at`, or 0 for another character. No other lead bytes begin white space.
size_t space_bytes(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) {
    return is_ascii_space(first) ? 1 : 0;
  }
  if (first != 0xC2 && (first < 0xE1 || first > 0xE3)) {
    return 0;
  }
  const base::CodePoint next = base::code_point_at(text, at);
  return next.is_valid && is_space(next.value) ? next.bytes : 0;
}

}  // namespace

bool is_space(char32_t c) {
  if (c < 0x80) {
    return is_ascii_space(static_cast<unsigned char>(c));
  }
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

std::string_view trim_right(std::string_view text) {
  while (!text.empty()) {
    size_t at = text.size() - 1;
    while (at > 0 && text.size() - at < 3 && is_continuation(static_cast<unsigned char>(text[at]))) {
      --at;
    }
    if (space_bytes(text, at) != text.size() - at) {
      break;
    }
    text.remove_suffix(text.size() - at);
  }
  return text;
}

std::string_view trim(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = space_bytes(text, 0);
    if (bytes == 0) {
      break;
    }
    text.remove_prefix(bytes);
  }
  return trim_right(text);
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  size_t start = 0;
  size_t at = 0;
  while (at < text.size()) {
    const size_t bytes = space_bytes(text, at);
    if (bytes == 0) {
      ++at;
      continue;
    }
    if (at > start) {
      words.push_back(text.substr(start, at - start));
    }
    at += bytes;
    start = at;
  }
  if (start < text.size()) {
    words.push_back(text.substr(start));
  }
  return words;
}

std::string lower_case(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    return base::ascii_lower_case(text);
  }
  std::string lowered;
  lowered.reserve(text.size());
  UErrorCode status = U_ZERO_ERROR;
  icu::StringByteSink<std::string> sink(&lowered);
  icu::CaseMap::utf8ToLower("", 0, icu::StringPiece(text.data(), static_cast<int32_t>(text.size())), sink, nullptr,
                            status);
  base::check(U_SUCCESS(status), base::ErrorKind::kRuntime, "lower_case: ICU reports {} on a line of {} bytes",
              u_errorName(status), text.size());
  return lowered;
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  size_t start = 0;
  for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from, start)) {
    result.append(text, start, at - start).append(to);
    start = at + from.size();
  }
  return result.append(text, start);
}

}  // namespace dragoman::evaluation
