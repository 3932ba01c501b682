#pragma once

#include <vector>

#include "base/random.h"
#include "data/sample/lexicon.h"
#include "data/sample/sentence_pair.h"

namespace dragoman::data::sample {

/// Generates sentence pairs: about 60 % with a pronoun whose antecedent only meaning tells, the rest plain sentences
/// that show the words, genders, plurals and an "it" that stands for nothing (it was raining).
/// Deterministic: the same words and the same `random` yield the same pairs. Const and safe to share between threads.
class SentenceGrammar {
 public:
  explicit SentenceGrammar(const Lexicon& lexicon) : lexicon_(lexicon) {}

  /// One plain sentence, or two that differ only in the clause with "it" and in what "it" stands for.
  std::vector<SentencePair> draw(base::Random& random) const;

  /// "The animal didn't cross the street because it was too tired." and the same with "too wide".
  std::vector<SentencePair> well_known_example() const;

 private:
  SentencePair draw_plain(base::Random& random) const;

  const Lexicon& lexicon_;
};

}  // namespace dragoman::data::sample
