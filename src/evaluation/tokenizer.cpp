#include "evaluation/tokenizer.h"

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

std::string tokenize_char(std::string_view line) {
  std::u32string spaced;
  for (const char32_t c : base::decode_utf8(line)) {
    spaced += c;
    spaced += U' ';
  }
  return base::encode_utf8(spaced);
}

}  // namespace dragoman::evaluation
