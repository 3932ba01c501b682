#include "evaluation/tokenizer.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman::evaluation {
namespace {

constexpr std::array<std::pair<Tokenizer, std::string_view>, 5> kNames = {{{Tokenizer::k13a, "13a"},
                                                                           {Tokenizer::kIntl, "intl"},
                                                                           {Tokenizer::kZh, "zh"},
                                                                           {Tokenizer::kChar, "char"},
                                                                           {Tokenizer::kNone, "none"}}};

}  // namespace

std::string_view tokenizer_name(Tokenizer tokenizer) {
  for (const auto& [value, name] : kNames) {
    if (value == tokenizer) {
      return name;
    }
  }
  base::fail(base::ErrorKind::kUsage, "tokenize: no tokenizer has the number {}", static_cast<int>(tokenizer));
}

Tokenizer parse_tokenizer(std::string_view name) {
  for (const auto& [value, known] : kNames) {
    if (known == name) {
      return value;
    }
  }
  base::fail(base::ErrorKind::kUsage, "tokenize: no tokenizer is called '{}'; choose one of 13a, intl, zh, char, none",
             name);
}

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

std::string tokenize_char(std::string_view line) {
  std::u32string spaced;
  for (const char32_t c : base::decode_utf8(line)) {
    spaced += c;
    spaced += U' ';
  }
  return base::encode_utf8(spaced);
}

}  // namespace dragoman::evaluation
