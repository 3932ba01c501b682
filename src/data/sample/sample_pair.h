#pragma once

#include <optional>
#include <string>

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
struct SamplePair {
  std::string english;
  std::string german;
  /// Sentences with the same key belong to the same part (train, valid or test): pattern and both nouns where "it"
  /// has an antecedent, so that the test holds pairs of nouns that training never showed in that pattern.
  std::string key;
  std::optional<Coreference> coreference;
};

}  // namespace dragoman::data::sample
