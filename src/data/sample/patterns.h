#pragma once

#include <span>
#include <string_view>

namespace dragoman::data::sample {

/// A sentence pattern with two nouns A and B that "it" can stand for, as a plain table row.
/// Slots: {A}, {B} in English; {A.acc}, {B.dat} ... in German. The subject is A or, if `person`, some person.
struct CoreferencePattern {
  std::string_view name = {};
  std::string_view class_a = {}, class_b = {};  ///< semantic classes of the lexicon
  bool person = false;                          ///< the subject is a person, so both A and B are objects
  bool weather = false;                         ///< "because it was raining" can follow
  std::string_view english_auxiliary = {};      ///< "didn't"; empty = simple past
  std::string_view english_past = {};           ///< "crossed"; unused with an auxiliary
  std::string_view english_base = {};           ///< "cross"
  std::string_view english_rest = {};           ///< "{B}"
  std::string_view german_verb = {};            ///< the finite verb, second in the clause: "überquerte"
  std::string_view german_rest = {};            ///< everything after it but the subject: "{B.acc} nicht"
  std::string_view connectives = {};            ///< English words of kConnectives, '|' between them
  std::string_view degrees = {};                ///< words of kDegrees before adjectives, '|' between them, "-" = none
  std::string_view adjectives_a = {}, adjectives_b = {};  ///< only A (only B) can be tired (wide)
  /// Clauses that can only speak of A (of B), "english=german", '|' between them. In German <er>, <ihn>, <ihm>
  /// stand for the pronoun in the nominative, accusative and dative.
  std::string_view clauses_a = {}, clauses_b = {};
};

extern const std::span<const CoreferencePattern> kCoreferencePatterns;

/// Where the finite verb of the German clause stands.
enum class VerbPosition {
  kFinal,       ///< subordinate clause: weil er müde war
  kSecond,      ///< main clause: aber er war müde
  kCoordinate,  ///< second predicate of the main clause: und aß ihn
};

/// A word that joins the clause with the pronoun to the main clause.
struct Connective {
  std::string_view english;
  std::string_view german;
  VerbPosition verb = VerbPosition::kFinal;
  bool comma = false;  ///< English has a comma before it
};

extern const std::span<const Connective> kConnectives;

/// Returns the connective with the English word. Throws: Error(kRuntime) for an unknown one.
const Connective& connective_named(std::string_view english);

/// English and German of two words that belong together.
struct WordPair {
  std::string_view english;
  std::string_view german;
};

extern const std::span<const WordPair> kDegrees;         ///< too, so, very
extern const std::span<const WordPair> kWeather;         ///< clauses whose "it" stands for nothing
extern const std::span<const WordPair> kPrepositions;    ///< all with the dative
extern const std::span<const WordPair> kNumerals;        ///< two, many ...
extern const std::span<const WordPair> kPluralVerbs;     ///< slept, hid ...
extern const std::span<const WordPair> kTransitivePast;  ///< saw, painted ...
extern const std::span<const WordPair> kModals;          ///< must, wants to ...
extern const std::span<const WordPair> kInfinitives;     ///< clean, sell ...

}  // namespace dragoman::data::sample
