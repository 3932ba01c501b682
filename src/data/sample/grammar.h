#pragma once

#include <vector>

#include "base/random.h"
#include "data/sample/lexicon.h"
#include "data/sample/sample_pair.h"

namespace dragoman::data::sample {

/// A generator of sentence pairs. About 60 % have a pronoun whose antecedent follows from the meaning alone. The others
/// are plain sentences with the words, genders, plurals and an "it" without an antecedent (it was raining). Equal words
/// and an equal `random` give equal pairs. Threads: any number; the object is immutable.
class SentenceGrammar {
 public:
  explicit SentenceGrammar(const Lexicon& lexicon) : lexicon_(lexicon) {}

  /// Returns one plain sentence, or two sentences that differ only in the clause with "it" and in the antecedent of
  /// "it".
  std::vector<SamplePair> draw(base::Random& random) const;

  /// Returns "The animal didn't cross the street because it was too tired." and its version with "too wide".
  std::vector<SamplePair> well_known_example() const;

 private:
  SamplePair draw_plain(base::Random& random) const;

  const Lexicon& lexicon_;
};

}  // namespace dragoman::data::sample
