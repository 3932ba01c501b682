#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/names.h"

namespace dragoman::evaluation {

/// How BLEU cuts a line into words. The names are sacreBLEU's and appear in signatures.
enum class Tokenizer {
  k13a,   ///< mteval-v13a of NIST, what published WMT scores use
  kIntl,  ///< mteval-v14 with --international-tokenization: Unicode punctuation and symbols
  kZh,    ///< each Chinese character alone, the rest as in 13a
  kChar,  ///< each character alone
  kNone,  ///< split at white space only: for text that is tokenised already
};

constexpr base::Names<Tokenizer> names_of(Tokenizer) {
  return {"tokenize",
          {{Tokenizer::k13a, "13a"},
           {Tokenizer::kIntl, "intl"},
           {Tokenizer::kZh, "zh"},
           {Tokenizer::kChar, "char"},
           {Tokenizer::kNone, "none"}}};
}
constexpr std::string_view tokenizer_name(Tokenizer tokenizer) {
  return base::name_of(tokenizer);
}
inline Tokenizer parse_tokenizer(std::string_view name) {
  return base::from_name<Tokenizer>(name);
}

/// Cuts one line into words.
/// @param line  well-formed UTF-8 without white space at its end
/// @return the words with white space between them (any amount; `split_words` gives the list).
/// Source: Post 2018, "A Call for Clarity in Reporting BLEU Scores"; sacreBLEU 2.6.
std::string tokenize(Tokenizer tokenizer, std::string_view line);

/// True if more than a third of the characters of the first lines, white space aside, are Chinese ideographs: a text
/// that only `kZh` and `kChar` cut into words.
bool is_mostly_chinese(std::span<const std::string> lines);

/// The rules one by one; see the enumeration.
std::string tokenize_13a(std::string_view line);
std::string tokenize_intl(std::string_view line);
std::string tokenize_zh(std::string_view line);
std::string tokenize_char(std::string_view line);

/// The language-dependent part of mteval-v13a, shared by 13a and zh: sets apart ASCII punctuation except ' , - .,
/// then period and comma unless a digit stands on that side, then a dash after a digit.
std::string separate_western_punctuation(std::string_view line);

}  // namespace dragoman::evaluation
