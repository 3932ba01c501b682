#include "evaluation/tokenizer.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace dragoman::evaluation {

std::string tokenize(Tokenizer tokenizer, std::string_view line) {
  switch (tokenizer) {
    case Tokenizer::k13a:
      return tokenize_13a(line);
    case Tokenizer::kIntl:
      return tokenize_intl(line);
    case Tokenizer::kZh:
      return tokenize_zh(line);
    case Tokenizer::kChar:
      return tokenize_char(line);
    case Tokenizer::kNone:
      break;
  }
  return std::string(line);
}

Tokenizer fitting_tokenizer(std::string_view language, std::span<const std::string> lines) {
  constexpr std::array<std::string_view, 7> kWithoutSpaces = {"ja", "th", "lo", "km", "my", "bo", "dz"};
  const std::string_view base = language.substr(0, language.find('-'));
  if (base == "zh" || (base.empty() && is_mostly_chinese(lines))) {
    return Tokenizer::kZh;
  }
  return std::ranges::find(kWithoutSpaces, base) == kWithoutSpaces.end() ? Tokenizer::k13a : Tokenizer::kChar;
}

std::string tokenize_char(std::string_view line) {
  std::u32string spaced;
  for (const char32_t c : base::decode_utf8(line)) {
    spaced += c;
    spaced += U' ';
  }
  return base::encode_utf8(spaced);
}

}  // namespace dragoman::evaluation
