#include "data/sample/make_grammar.h"

#include "base/error.h"
#include "data/sample/chinese_grammar.h"
#include "data/sample/german_grammar.h"

namespace dragoman::data::sample {

std::unique_ptr<Grammar> make_grammar(std::string_view pair, const Lexicon& lexicon) {
  if (pair == "en-de") {
    return std::make_unique<GermanGrammar>(lexicon);
  }
  if (pair == "en-zh") {
    return std::make_unique<ChineseGrammar>(lexicon, Direction::kToChinese);
  }
  base::check_usage(pair == "zh-en", "sample-corpus: --pair {} is unknown; choose one of: en-de, en-zh, zh-en", pair);
  return std::make_unique<ChineseGrammar>(lexicon, Direction::kFromChinese);
}

}  // namespace dragoman::data::sample
