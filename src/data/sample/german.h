#pragma once

#include <array>
#include <string>
#include <string_view>

namespace dragoman::data::sample {

enum class Gender { kMasculine, kFeminine, kNeuter };
enum class Case { kNominative, kAccusative, kDative };
enum class Number { kSingular, kPlural };

/// The word in front of an adjective decides its ending: the (weak), a and no (mixed), two and many (strong).
enum class Determiner { kDefinite, kIndefinite, kNegative, kNone };

/// A noun of both languages.
struct Noun {
  std::string english;
  std::string english_plural;  ///< empty for a mass noun
  std::string german;
  std::string german_plural;  ///< empty for a mass noun
  Gender gender = Gender::kNeuter;
  std::string oblique_suffix;  ///< "n" or "en" for weak nouns: der Löwe, den Löwen, dem Löwen
};

/// An adjective of both languages.
struct Adjective {
  std::string english;
  std::string german;    ///< as after "war": müde
  std::string stem;      ///< before the endings: müd-
  bool gradable = true;  ///< false: never with too, so or very (flooded)
};

/// What stands where a noun phrase can stand.
struct NounPhrase {
  const Noun* noun = nullptr;
  const Adjective* attribute = nullptr;  ///< may be null
  Determiner determiner = Determiner::kDefinite;
  Number number = Number::kSingular;
};

/// "the old dog", "an old dog", "no old dog", "old dogs".
std::string english_phrase(const NounPhrase& phrase);

/// "der alte Hund", "einen alten Hund", "keinem alten Hund", "alten Hunden".
/// Plurals take the strong endings and no article (they follow a numeral here).
std::string german_phrase(const NounPhrase& phrase, Case grammatical_case);

/// The personal pronoun of the third person singular: er/ihn/ihm, sie/sie/ihr, es/es/ihm.
std::string_view german_pronoun(Gender gender, Case grammatical_case);

/// Every form german_pronoun yields, once.
inline constexpr std::array<std::string_view, 6> kGermanPronouns = {"er", "sie", "es", "ihn", "ihm", "ihr"};

/// Joins preposition and article as speech does: "in dem" -> "im", "in das" -> "ins", "an dem" -> "am".
std::string contract_prepositions(std::string text);

/// `text` with its first letter upper case (ASCII and the three umlauts).
std::string capitalized(std::string text);

}  // namespace dragoman::data::sample
