#include "data/vocabulary/bpe_split.h"

#include <unicode/uchar.h>

#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace dragoman::data {
namespace {

enum class Kind : uint8_t { kLetter, kNumber, kSpace, kOther };

Kind kind_by_icu(char32_t c) {
  const auto code = static_cast<UChar32>(c);
  const uint32_t category = U_GET_GC_MASK(code);
  if ((category & U_GC_L_MASK) != 0) {
    return Kind::kLetter;
  }
  if ((category & U_GC_N_MASK) != 0) {
    return Kind::kNumber;
  }
  return u_isUWhiteSpace(code) ? Kind::kSpace : Kind::kOther;
}

constexpr size_t kAscii = 128;

const std::array<Kind, kAscii>& ascii_kinds() {
  static const std::array<Kind, kAscii> kinds = [] {
    std::array<Kind, kAscii> made{};
    for (size_t c = 0; c < kAscii; ++c) {
      made[c] = kind_by_icu(static_cast<char32_t>(c));
    }
    return made;
  }();
  return kinds;
}

// A character of the text; past the end it has no bytes.
struct Character {
  char32_t value = 0;
  size_t bytes = 0;
  Kind kind = Kind::kOther;

  bool is(Kind other) const { return bytes > 0 && kind == other; }
  bool ends_line() const { return bytes > 0 && (value == '\n' || value == '\r'); }
};

// The letters that a contraction may have.
enum class Case { kLower, kAny };

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text), ascii_(ascii_kinds()) {}

  Character at(size_t position) const {
    if (position >= text_.size()) {
      return {};
    }
    const auto byte = static_cast<unsigned char>(text_[position]);
    if (byte < kAscii) {
      return {byte, 1, ascii_[byte]};
    }
    const base::CodePoint c = base::code_point_at(text_, position);
    return {c.value, c.bytes, kind_by_icu(c.value)};
  }

  size_t run_end(Kind kind, size_t position) const {
    for (Character c = at(position); c.is(kind); c = at(position)) {
      position += c.bytes;
    }
    return position;
  }

  size_t line_ends_end(size_t position) const {
    while (at(position).ends_line()) {
      ++position;
    }
    return position;
  }

  // Bytes of 's 't 're 've 'm 'll 'd at `position`; 0 for none. U+017F is the one other letter whose case folds to one
  // of these.
  size_t contraction_bytes(size_t position, Case letters) const {
    if (text_[position] != '\'') {
      return 0;
    }
    const auto letter = [&](size_t offset) {
      const Character c = at(position + offset);
      return letters == Case::kAny && c.bytes == 1 && c.value >= 'A' && c.value <= 'Z' ? c.value + ('a' - 'A')
                                                                                       : c.value;
    };
    const char32_t first = letter(1);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') {
      return 2;
    }
    if (letters == Case::kAny && first == 0x17F) {
      return 3;
    }
    const char32_t second = first == 'r' || first == 'v' || first == 'l' ? letter(2) : 0;
    const bool found = (second == 'e' && first != 'l') || (second == 'l' && first == 'l');
    return found ? 3 : 0;
  }

  // The end of a word that begins with white space and has no more than that: the last character of a run is left to
  // the word behind it.
  size_t spaces_end(size_t position) const {
    size_t end = position, last = position;
    for (Character c = at(end); c.is(Kind::kSpace); c = at(end)) {
      last = end;
      end += c.bytes;
    }
    return end == text_.size() || last == position ? end : last;
  }

  // The end of the last line end in a run of white space; `position` if the run has none.
  size_t last_line_end(size_t position) const {
    size_t found = position;
    for (Character c = at(position); c.is(Kind::kSpace); c = at(position)) {
      position += c.bytes;
      found = c.ends_line() ? position : found;
    }
    return found;
  }

 private:
  std::string_view text_;
  const std::array<Kind, kAscii>& ascii_;
};

size_t gpt2_end(const Scanner& scan, size_t at) {
  if (const size_t bytes = scan.contraction_bytes(at, Case::kLower); bytes > 0) {
    return at + bytes;
  }
  const Character first = scan.at(at);
  const size_t body = at + (first.value == ' ' ? 1 : 0);
  const Character c = scan.at(body);
  return c.bytes == 0 || c.kind == Kind::kSpace ? scan.spaces_end(at) : scan.run_end(c.kind, body);
}

size_t numbers_end(const Scanner& scan, size_t at, int most) {
  for (Character c = scan.at(at); most > 0 && c.is(Kind::kNumber); c = scan.at(at), --most) {
    at += c.bytes;
  }
  return at;
}

size_t tiktoken_end(const Scanner& scan, size_t at, int most_digits) {
  if (const size_t bytes = scan.contraction_bytes(at, Case::kAny); bytes > 0) {
    return at + bytes;
  }
  const Character first = scan.at(at);
  if (first.kind == Kind::kLetter) {
    return scan.run_end(Kind::kLetter, at);
  }
  if (first.kind == Kind::kNumber) {
    return numbers_end(scan, at, most_digits);
  }
  const size_t behind = at + first.bytes;
  if (!first.ends_line() && scan.at(behind).is(Kind::kLetter)) {
    return scan.run_end(Kind::kLetter, behind);
  }
  const size_t body = first.value == ' ' ? behind : at;
  if (scan.at(body).is(Kind::kOther)) {
    return scan.line_ends_end(scan.run_end(Kind::kOther, body));
  }
  const size_t line_end = scan.last_line_end(at);
  return line_end > at ? line_end : scan.spaces_end(at);
}

struct Pattern {
  BpeSplit split;
  std::string_view text;
};

constexpr std::array<Pattern, 4> kPatterns = {{
    {BpeSplit::kGpt2, R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
    {BpeSplit::kLlama3, R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
                        R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {BpeSplit::kQwen2, R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
                       R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    // The first in other words.
    {BpeSplit::kGpt2, R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
}};

}  // namespace

size_t word_end(BpeSplit split, std::string_view text, size_t at) {
  const Scanner scan(text);
  switch (split) {
    case BpeSplit::kNone:
      return text.size();
    case BpeSplit::kGpt2:
      return gpt2_end(scan, at);
    case BpeSplit::kLlama3:
      return tiktoken_end(scan, at, 3);
    case BpeSplit::kQwen2:
      return tiktoken_end(scan, at, 1);
  }
  return text.size();
}

std::string_view pattern_of(BpeSplit split) {
  for (const Pattern& pattern : kPatterns) {
    if (pattern.split == split) {
      return pattern.text;
    }
  }
  return {};
}

std::optional<BpeSplit> split_of_pattern(std::string_view pattern) {
  for (const Pattern& known : kPatterns) {
    if (known.text == pattern) {
      return known.split;
    }
  }
  return std::nullopt;
}

size_t digits_end(bool individual, std::string_view text, size_t at) {
  const Scanner scan(text);
  Character c = scan.at(at);
  const bool number = c.kind == Kind::kNumber;
  do {
    at += c.bytes;
    c = scan.at(at);
  } while (c.bytes > 0 && (c.kind == Kind::kNumber) == number && !(number && individual));
  return at;
}

}  // namespace dragoman::data
