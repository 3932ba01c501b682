#include "data/sample/german_grammar.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "data/sample/clause.h"
#include "data/sample/draw.h"
#include "data/sample/patterns.h"

namespace dragoman::data::sample {

namespace {

Frame draw_frame(const Connective& connective, base::Random& random) {
  if (connective.verb != VerbPosition::kFinal) {
    return pick(std::array{Frame::kTrailing, Frame::kAdverbFirst, Frame::kAdverbInside}, random);
  }
  if (connective.english == "because") {
    return pick(std::array{Frame::kTrailing, Frame::kTrailing, Frame::kAdverbFirst, Frame::kAdverbInside,
                           Frame::kLeading, Frame::kLeadingAdverbInside, Frame::kQuestion},
                random);
  }
  return pick(std::array{Frame::kTrailing, Frame::kAdverbFirst, Frame::kAdverbInside, Frame::kLeading,
                         Frame::kLeadingAdverbInside},
              random);
}

const Connective& draw_connective(const CoreferencePattern& pattern, base::Random& random) {
  return connective_named(pick(split_words(pattern.connectives, '|'), random));
}

// "" or "too " and "zu ", as the adjective allows.
WordPair draw_degree(std::string_view choices, base::Random& random) {
  const std::string_view chosen = pick(split_words(choices, '|'), random);
  const auto found = std::ranges::find(kDegrees, chosen, &WordPair::english);
  return found == kDegrees.end() ? WordPair{} : *found;
}

// "it was too tired" and "er zu müde war" or "er war zu müde".
ItClause adjective_clause(const Connective& connective, const Adjective& adjective, const WordPair& degree,
                          Gender gender) {
  const bool graded = adjective.gradable && !degree.english.empty();
  const std::string english = (graded ? std::string(degree.english) + ' ' : "") + adjective.english;
  const std::string german = (graded ? std::string(degree.german) + ' ' : "") + adjective.german;
  const std::string subject(german_pronoun(gender, Case::kNominative));
  return {&connective, "it was " + english,
          connective.verb == VerbPosition::kSecond ? subject + " war " + german : subject + ' ' + german + " war"};
}

// Fills <er>, <ihn> or <ihm> of "english=german" for a noun of `gender`.
ItClause fixed_clause(const Connective& connective, std::string_view entry, Gender gender) {
  const size_t equals = entry.find('=');
  ItClause clause{&connective, std::string(entry.substr(0, equals)), std::string(entry.substr(equals + 1))};
  for (const Case grammatical_case : {Case::kNominative, Case::kAccusative, Case::kDative}) {
    const std::string slot = '<' + std::string(german_pronoun(Gender::kMasculine, grammatical_case)) + '>';
    if (clause.german.find(slot) != std::string::npos) {
      replace_slot(clause.german, slot, german_pronoun(gender, grammatical_case));
      clause.pronoun_case = grammatical_case;
    }
  }
  return clause;
}

// The random choices of one main clause.
struct Draw {
  const CoreferencePattern& pattern;
  NounPhrase a, b, person;

  const Noun& antecedent(bool about_a) const { return about_a ? *a.noun : *b.noun; }
  std::string key() const { return std::string(pattern.name) + '|' + a.noun->english + '|' + b.noun->english; }
};

// Both nouns differ in gender, so that the pronoun tells which one is meant.
Draw draw_nouns(const Lexicon& lexicon, const CoreferencePattern& pattern, base::Random& random) {
  Draw drawn{pattern, draw_phrase(lexicon, pattern.class_a, random), {}, draw_phrase(lexicon, "person", random)};
  do {
    drawn.b = draw_phrase(lexicon, pattern.class_b, random);
  } while (drawn.b.noun->gender == drawn.a.noun->gender);
  return drawn;
}

MainClause main_clause(const Draw& drawn) {
  const CoreferencePattern& pattern = drawn.pattern;
  const NounPhrase& subject = pattern.person ? drawn.person : drawn.a;
  MainClause main{english_phrase(subject),           std::string(pattern.english_auxiliary),
                  std::string(pattern.english_past), std::string(pattern.english_base),
                  std::string(pattern.english_rest), german_phrase(subject, Case::kNominative),
                  std::string(pattern.german_verb),  std::string(pattern.german_rest)};
  replace_slot(main.english_rest, "{A}", english_phrase(drawn.a));
  replace_slot(main.english_rest, "{B}", english_phrase(drawn.b));
  replace_slot(main.german_rest, "{A.acc}", german_phrase(drawn.a, Case::kAccusative));
  replace_slot(main.german_rest, "{B.acc}", german_phrase(drawn.b, Case::kAccusative));
  replace_slot(main.german_rest, "{B.dat}", german_phrase(drawn.b, Case::kDative));
  return main;
}

// The clause that can only speak of A (or of B).
ItClause draw_it_clause(const Lexicon& lexicon, const Draw& drawn, const Connective& connective, bool about_a,
                        base::Random& random) {
  const CoreferencePattern& pattern = drawn.pattern;
  const Gender gender = drawn.antecedent(about_a).gender;
  if (const std::string_view fixed = about_a ? pattern.clauses_a : pattern.clauses_b; !fixed.empty()) {
    return fixed_clause(connective, pick(split_words(fixed, '|'), random), gender);
  }
  const auto words = split_words(about_a ? pattern.adjectives_a : pattern.adjectives_b);
  const Adjective& adjective = lexicon.adjective(pick(words, random));
  return adjective_clause(connective, adjective, draw_degree(pattern.degrees, random), gender);
}

// None where the pronoun is the same for both nouns: "ihm" stands for masculine and neuter.
std::optional<Coreference> coreference_of(const Draw& drawn, bool about_a, Case pronoun_case) {
  const Noun& antecedent = drawn.antecedent(about_a);
  const Noun& rival = drawn.antecedent(!about_a);
  const std::string_view pronoun = german_pronoun(antecedent.gender, pronoun_case);
  if (pronoun == german_pronoun(rival.gender, pronoun_case)) {
    return std::nullopt;
  }
  return Coreference{std::string(drawn.pattern.name),
                     std::string(pronoun),
                     antecedent.english,
                     antecedent.german,
                     rival.english,
                     rival.german};
}

std::vector<SamplePair> draw_coreference(const Lexicon& lexicon, base::Random& random) {
  const CoreferencePattern& pattern = pick(kCoreferencePatterns, random);
  const Draw drawn = draw_nouns(lexicon, pattern, random);
  const MainClause main = main_clause(drawn);
  const Connective& connective = draw_connective(pattern, random);
  const Frame frame = draw_frame(connective, random);
  const Adverbial& adverbial = pick(lexicon.adverbials(), random);
  std::vector<SamplePair> pairs;
  for (const bool about_a : {true, false}) {
    const ItClause clause = draw_it_clause(lexicon, drawn, connective, about_a, random);
    pairs.push_back(compose(main, clause, frame, adverbial));
    pairs.back().coreference = coreference_of(drawn, about_a, clause.pronoun_case);
    pairs.back().key = drawn.key();
  }
  return pairs;
}

// A main clause of the patterns without a second clause, or with one about the weather.
SamplePair draw_main_only(const Lexicon& lexicon, base::Random& random) {
  const CoreferencePattern& pattern = pick(kCoreferencePatterns, random);
  const Draw drawn = draw_nouns(lexicon, pattern, random);
  const Connective& connective = draw_connective(pattern, random);
  const Frame frame = draw_frame(connective_named("because"), random);
  const Adverbial& adverbial = pick(lexicon.adverbials(), random);
  const bool weather = pattern.weather && chance(0.4, random);
  SamplePair pair;
  if (weather) {
    const WordPair& clause = pick(kWeather, random);
    const Frame weather_frame = connective.english == "because" ? frame : Frame::kTrailing;
    pair = compose(main_clause(drawn), {&connective, std::string(clause.english), std::string(clause.german)},
                   weather_frame, adverbial);
  } else {
    pair = compose_plain(main_clause(drawn), frame, adverbial);
  }
  pair.key = drawn.key();
  return pair;
}

// "The old dog was very tired."
SamplePair draw_copula(const Lexicon& lexicon, base::Random& random) {
  const CoreferencePattern& pattern = pick(kCoreferencePatterns, random);
  const bool about_a = chance(0.5, random);
  const std::string_view adjectives = about_a ? pattern.adjectives_a : pattern.adjectives_b;
  const NounPhrase subject = draw_phrase(lexicon, about_a ? pattern.class_a : pattern.class_b, random);
  const Adjective& adjective =
      lexicon.adjective(pick(split_words(adjectives.empty() ? "old new beautiful" : adjectives), random));
  const WordPair degree = adjective.gradable ? draw_degree("very|too|-", random) : WordPair{};
  const std::string gap = degree.english.empty() ? "" : " ";
  return finish(
      english_phrase(subject) + " was " + std::string(degree.english) + gap + adjective.english,
      german_phrase(subject, Case::kNominative) + " war " + std::string(degree.german) + gap + adjective.german, ".");
}

// "There was no old dog in the garden."
SamplePair draw_existence(const Lexicon& lexicon, base::Random& random) {
  NounPhrase thing = draw_phrase(lexicon, pick(kCoreferencePatterns, random).class_a, random);
  const NounPhrase place = draw_phrase(lexicon, "place", random);
  thing.determiner = chance(0.3, random) ? Determiner::kNegative : Determiner::kIndefinite;
  if (thing.noun->english_plural.empty()) {
    thing.determiner = Determiner::kNegative;  // "a cheese" would need another German noun
  }
  return finish("there was " + english_phrase(thing) + " in " + english_phrase(place),
                "in " + german_phrase(place, Case::kDative) + " gab es " + german_phrase(thing, Case::kAccusative),
                ".");
}

// "Yesterday the farmer saw a dog behind the barn."
SamplePair draw_witness(const Lexicon& lexicon, base::Random& random) {
  const CoreferencePattern& pattern = pick(kCoreferencePatterns, random);
  const NounPhrase person = draw_phrase(lexicon, "person", random);
  NounPhrase thing = draw_phrase(lexicon, chance(0.5, random) ? pattern.class_a : pattern.class_b, random);
  const NounPhrase landmark = draw_phrase(lexicon, pick(std::array{"place", "climbable", "vehicle"}, random), random);
  if (!thing.noun->english_plural.empty() && chance(0.7, random)) {
    thing.determiner = Determiner::kIndefinite;
  }
  const WordPair& verb = pick(kTransitivePast, random);
  const WordPair& preposition = pick(kPrepositions, random);
  MainClause main{english_phrase(person),    "",
                  std::string(verb.english), "",
                  english_phrase(thing),     german_phrase(person, Case::kNominative),
                  std::string(verb.german),  german_phrase(thing, Case::kAccusative)};
  main.english_rest += ' ' + std::string(preposition.english) + ' ' + english_phrase(landmark);
  main.german_rest += ' ' + std::string(preposition.german) + ' ' + german_phrase(landmark, Case::kDative);
  const Frame frame = chance(0.5, random) ? Frame::kTrailing : Frame::kAdverbFirst;
  return compose_plain(main, frame, pick(lexicon.adverbials(), random));
}

// "Three old dogs slept in the barn."
SamplePair draw_count(const Lexicon& lexicon, base::Random& random) {
  NounPhrase animals = draw_phrase(lexicon, "animal", random);
  animals.number = Number::kPlural;
  animals.determiner = Determiner::kNone;
  const NounPhrase place = draw_phrase(lexicon, "place", random);
  const WordPair& numeral = pick(kNumerals, random);
  const WordPair& verb = pick(kPluralVerbs, random);
  MainClause main{std::string(numeral.english) + ' ' + english_phrase(animals),
                  "",
                  std::string(verb.english),
                  "",
                  "in " + english_phrase(place),
                  std::string(numeral.german) + ' ' + german_phrase(animals, Case::kNominative),
                  std::string(verb.german),
                  "in " + german_phrase(place, Case::kDative)};
  const Frame frame = chance(0.5, random) ? Frame::kTrailing : Frame::kAdverbFirst;
  return compose_plain(main, frame, pick(lexicon.adverbials(), random));
}

// "The farmer must sell three old dogs.", "The cook wants to buy the lamp."
SamplePair draw_wish(const Lexicon& lexicon, base::Random& random) {
  const CoreferencePattern& pattern = pick(kCoreferencePatterns, random);
  const NounPhrase person = draw_phrase(lexicon, "person", random);
  NounPhrase thing = draw_phrase(lexicon, chance(0.5, random) ? pattern.class_a : pattern.class_b, random);
  const WordPair& modal = pick(kModals, random);
  const WordPair& verb = pick(kInfinitives, random);
  WordPair numeral;
  if (!thing.noun->english_plural.empty() && chance(0.4, random)) {
    thing.number = Number::kPlural;
    thing.determiner = Determiner::kNone;
    numeral = pick(kNumerals, random);
  }
  const std::string gap = numeral.english.empty() ? "" : " ";
  return finish(english_phrase(person) + ' ' + std::string(modal.english) + ' ' + std::string(verb.english) + ' ' +
                    std::string(numeral.english) + gap + english_phrase(thing),
                german_phrase(person, Case::kNominative) + ' ' + std::string(modal.german) + ' ' +
                    std::string(numeral.german) + gap + german_phrase(thing, Case::kAccusative) + ' ' +
                    std::string(verb.german),
                ".");
}

}  // namespace

SamplePair GermanGrammar::draw_plain(base::Random& random) const {
  using Drawer = SamplePair (*)(const Lexicon&, base::Random&);
  constexpr std::array<Drawer, 8> kDrawers = {draw_main_only, draw_main_only, draw_main_only, draw_copula,
                                              draw_existence, draw_witness,   draw_count,     draw_wish};
  return pick(kDrawers, random)(lexicon_, random);
}

std::vector<SamplePair> GermanGrammar::draw(base::Random& random) const {
  if (chance(kCoreferenceChance, random)) {
    return draw_coreference(lexicon_, random);
  }
  return {draw_plain(random)};
}

std::vector<SamplePair> GermanGrammar::well_known_example() const {
  const Draw drawn{
      kCoreferencePatterns.front(), {lexicon_.nouns("animal").front()}, {lexicon_.nouns("road").front()}, {}};
  const Connective& because = connective_named("because");
  const WordPair too = kDegrees.front();
  std::vector<SamplePair> pairs;
  for (const bool about_animal : {true, false}) {
    const Adjective& adjective = lexicon_.adjective(about_animal ? "tired" : "wide");
    const ItClause clause = adjective_clause(because, adjective, too, drawn.antecedent(about_animal).gender);
    pairs.push_back(compose(main_clause(drawn), clause, Frame::kTrailing, {}));
    pairs.back().coreference = coreference_of(drawn, about_animal, clause.pronoun_case);
    pairs.back().key = drawn.key();
  }
  return pairs;
}

}  // namespace dragoman::data::sample
