#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/names.h"

namespace dragoman::evaluation {

/// The tokenizers of BLEU. Their names are those of sacreBLEU and appear in signatures.
enum class Tokenizer {
  k13a,   ///< mteval-v13a of NIST, used by published WMT scores
  kIntl,  ///< mteval-v14 with --international-tokenization: Unicode punctuation and symbols
  kZh,    ///< each Chinese character is a word, other text as in 13a
  kChar,  ///< each character is a word
  kNone,  ///< split at white space only, for tokenised text
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

/// Returns the words of one line with any amount of white space between them. `split_words` gives their list.
/// Requires: `line` is well-formed UTF-8 without white space at its end.
/// Source: Post 2018, "A Call for Clarity in Reporting BLEU Scores"; sacreBLEU 2.6.
std::string tokenize(Tokenizer tokenizer, std::string_view line);

/// Returns true if more than a third of the characters of the first lines, without white space, are Chinese ideographs.
/// Only `kZh` and `kChar` split such a text into words.
bool is_mostly_chinese(std::span<const std::string> lines);

/// Returns the tokenizer that suits a text: zh for Chinese, char for other languages that put no spaces between words
/// (Japanese, Thai, Lao, Khmer, Burmese, Tibetan), otherwise 13a.
/// @param language  a code such as "zh" or "zh-Hant"; empty = unknown, then the lines decide whether they are Chinese
Tokenizer fitting_tokenizer(std::string_view language, std::span<const std::string> lines);

/// Return the words of a line by the rules of one tokenizer each.
std::string tokenize_13a(std::string_view line);
std::string tokenize_intl(std::string_view line);
std::string tokenize_zh(std::string_view line);
std::string tokenize_char(std::string_view line);

/// Whether "dog's" is one word or two.
enum class Possessive { kJoined, kApart };

/// Applies the language-dependent part of mteval-v13a, which 13a, zh and TER share. It separates ASCII punctuation
/// except ' , - . from words, with kApart also 's, then period and comma unless a digit stands on that side, then a
/// dash after a digit.
std::string separate_western_punctuation(std::string_view line, Possessive possessive = Possessive::kJoined);

/// Returns `line` with &quot; &amp; &lt; and &gt; replaced, in this order: "&amp;lt;" ends as "<".
std::string replace_entities(std::string_view line);

}  // namespace dragoman::evaluation
