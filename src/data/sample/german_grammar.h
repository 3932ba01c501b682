#pragma once

#include "data/sample/grammar.h"
#include "data/sample/lexicon.h"

namespace dragoman::data::sample {

/// English and German. The pronoun for "it" has the gender of the noun that "it" stands for: er, sie or es.
class GermanGrammar final : public Grammar {
 public:
  explicit GermanGrammar(const Lexicon& lexicon) : lexicon_(lexicon) {}

  std::vector<SamplePair> draw(base::Random& random) const override;
  std::vector<SamplePair> well_known_example() const override;

 private:
  SamplePair draw_plain(base::Random& random) const;

  const Lexicon& lexicon_;
};

}  // namespace dragoman::data::sample
