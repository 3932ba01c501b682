#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "data/sample_corpus_lexicon.h"

namespace dragoman::data::sample {

/// What the one "it" of an English sentence stands for.
struct Coreference {
  std::string pattern;             ///< name of the sentence pattern: "cross"
  std::string pronoun;             ///< the German pronoun that agrees with the antecedent: er sie es ihn ihm ihr
  std::string antecedent_english;  ///< "animal"
  std::string antecedent_german;   ///< "Tier"
  std::string rival_english;       ///< the other noun "it" could stand for by grammar alone: "street"
  std::string rival_german;        ///< "Straße"; always of another gender
};

/// One English sentence and its one German translation.
struct SentencePair {
  std::string english;
  std::string german;
  /// Sentences with the same key belong to the same part (train, valid or test): pattern and both nouns where "it"
  /// has an antecedent, so that the test holds pairs of nouns that training never showed in that pattern.
  std::string key;
  std::optional<Coreference> coreference;
};

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
