#pragma once

#include <vector>

#include "base/random.h"
#include "data/sample/sample_pair.h"

namespace dragoman::data::sample {

/// A chance that a draw is a pair of sentences with an antecedent: 2 * 0.43 / (2 * 0.43 + 0.57) = 60 % of the
/// sentences.
inline constexpr double kCoreferenceChance = 0.43;

/// A generator of sentence pairs. About 60 % have a pronoun whose antecedent follows from the meaning alone. The others
/// are plain sentences with the words, genders, plurals and an "it" without an antecedent (it was raining). Equal words
/// and an equal `random` give equal pairs. Threads: any number; the object is immutable.
class Grammar {
 public:
  virtual ~Grammar() = default;

  /// Returns one plain sentence, or two sentences that differ only in the clause with the pronoun and in its
  /// antecedent.
  virtual std::vector<SamplePair> draw(base::Random& random) const = 0;

  /// Returns "The animal didn't cross the street because it was too tired." and its version with "too wide".
  virtual std::vector<SamplePair> well_known_example() const = 0;
};

}  // namespace dragoman::data::sample
