#include "base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace dragoman::base {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// The allowed first continuation byte depends on the lead byte: it excludes overlong forms (E0, F0), surrogates (ED)
// and values above U+10FFFF (F4). Unicode 15, table 3-7.
struct SecondByteRange {
  uint8_t low;
  uint8_t high;
};

SecondByteRange second_byte_range(uint8_t lead) {
  switch (lead) {
    case 0xE0:
      return {0xA0, 0xBF};
    case 0xED:
      return {0x80, 0x9F};
    case 0xF0:
      return {0x90, 0xBF};
    case 0xF4:
      return {0x80, 0x8F};
    default:
      return {0x80, 0xBF};
  }
}

size_t sequence_length(uint8_t lead) {
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xC2 && lead <= 0xDF) {
    return 2;
  }
  if (lead >= 0xE0 && lead <= 0xEF) {
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    return 4;
  }
  return 0;  // a continuation byte, or one that never occurs
}

// The number of leading ASCII bytes of text[at...], eight at a time.
size_t ascii_run(std::string_view text, size_t at) {
  const size_t start = at;
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & 0x8080808080808080u) != 0) {
      break;
    }
  }
  while (at < text.size() && static_cast<uint8_t>(text[at]) < 0x80) {
    ++at;
  }
  return at - start;
}

void append_utf8(char32_t code_point, std::string& out) {
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3F));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

CodePoint ill_formed(size_t bytes) {
  return {.value = 0xFFFD, .bytes = bytes, .is_valid = false};
}

CodePoint well_formed(char32_t value, size_t bytes) {
  return {.value = value, .bytes = bytes, .is_valid = true};
}

}  // namespace

CodePoint code_point_at(std::string_view text, size_t at) {
  const auto lead = static_cast<uint8_t>(text[at]);
  const size_t length = sequence_length(lead);
  if (length == 1) {
    return well_formed(lead, 1);
  }
  if (length == 0) {
    return ill_formed(1);
  }
  char32_t code_point = lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    const SecondByteRange range = i == 1 ? second_byte_range(lead) : SecondByteRange{0x80, 0xBF};
    if (at + i >= text.size()) {
      return ill_formed(i);
    }
    const auto byte = static_cast<uint8_t>(text[at + i]);
    if (byte < range.low || byte > range.high) {
      return ill_formed(i);
    }
    code_point = (code_point << 6) | (byte & 0x3Fu);
  }
  return well_formed(code_point, length);
}

bool is_valid_utf8(std::string_view text) {
  for (size_t at = ascii_run(text, 0); at < text.size(); at += ascii_run(text, at)) {
    const CodePoint next = code_point_at(text, at);
    if (!next.is_valid) {
      return false;
    }
    at += next.bytes;
  }
  return true;
}

std::string repair_utf8(std::string_view text) {
  std::string repaired;
  repaired.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const CodePoint next = code_point_at(text, at);
    if (!next.is_valid) {
      repaired.append(kReplacement);
    } else if (next.value == 0) {
      repaired.push_back(' ');
    } else {
      repaired.append(text.substr(at, next.bytes));
    }
    at += next.bytes;
  }
  return repaired;
}

std::u32string decode_utf8(std::string_view text) {
  std::u32string code_points;
  code_points.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const CodePoint next = code_point_at(text, at);
    code_points.push_back(next.value);
    at += next.bytes;
  }
  return code_points;
}

std::string encode_utf8(std::u32string_view code_points) {
  std::string text;
  text.reserve(code_points.size());
  for (const char32_t code_point : code_points) {
    const bool scalar = code_point <= 0x10FFFF && (code_point < 0xD800 || code_point > 0xDFFF);
    append_utf8(scalar ? code_point : 0xFFFD, text);
  }
  return text;
}

size_t count_characters(std::string_view text) {
  constexpr unsigned kContinuationMask = 0xC0;
  constexpr unsigned kContinuation = 0x80;
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & kContinuationMask) != kContinuation; }));
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    lines.emplace_back(line);
  }
  return lines;
}

}  // namespace dragoman::base
