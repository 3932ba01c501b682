#pragma once

#include <optional>
#include <string>

namespace dragoman::data::sample {

/// What the one pronoun of an English sentence stands for.
struct Coreference {
  std::string pattern;  ///< name of the sentence pattern: "cross"
  /// The word that shows what was understood. German: the pronoun that agrees with the antecedent, er sie es ihn ihm or
  /// ihr. To Chinese: the words before the repeated noun, 那只. From Chinese, which has no word there: the English
  /// pronoun.
  std::string pronoun;
  std::string antecedent_english;  ///< "animal"
  std::string antecedent_other;    ///< "Tier", "动物"
  std::string rival_english;       ///< the other noun that the pronoun could stand for by grammar alone: "street"
  std::string rival_other;         ///< "Straße", "街道"; always one with another `pronoun` or noun
};

/// One English sentence and its one translation.
struct SamplePair {
  std::string english;
  std::string other;  ///< the German or Chinese sentence
  /// Sentences with the same key belong to the same part (train, valid or test): pattern and both nouns where
  /// the pronoun has an antecedent, so that the test holds pairs of nouns that training never showed in that pattern.
  std::string key;
  std::optional<Coreference> coreference;
};

}  // namespace dragoman::data::sample
