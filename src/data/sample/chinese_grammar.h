#pragma once

#include "data/sample/chinese_clause.h"
#include "data/sample/grammar.h"

namespace dragoman::data::sample {

/// English and Chinese.
/// To Chinese: "it" becomes the noun that it stands for, as Chinese prefers for things: 因为那条街道太宽了.
/// From Chinese: the pronoun is left out, as is usual, and English needs he, she, it or they: 因为太宽了. Both nouns
/// differ in number, or one is a person, so that the pronoun tells which one is meant.
class ChineseGrammar final : public Grammar {
 public:
  ChineseGrammar(const Lexicon& lexicon, Direction direction)
      : lexicon_(lexicon), chinese_(lexicon), direction_(direction) {}

  std::vector<SamplePair> draw(base::Random& random) const override;
  std::vector<SamplePair> well_known_example() const override;

 private:
  const Lexicon& lexicon_;
  ChineseLexicon chinese_;
  Direction direction_;
};

}  // namespace dragoman::data::sample
