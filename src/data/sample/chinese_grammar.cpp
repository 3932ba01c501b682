#include "data/sample/chinese_grammar.h"

#include <algorithm>
#include <array>

#include "data/sample/chinese_plain.h"
#include "data/sample/draw.h"

namespace dragoman::data::sample {

namespace {

constexpr double kPersonChance = 0.4;

// The random choices of one main clause.
struct Draw {
  const ChinesePattern& pattern;
  ClassedPhrase a, b, person;

  const ClassedPhrase& antecedent(bool about_a) const { return about_a ? a : b; }
  std::string key() const {
    return std::string(pattern.name) + '|' + a.phrase.noun->english + '|' + b.phrase.noun->english;
  }
};

// Whether a translation shows which noun is meant: neither may be a part of the other.
bool are_told_apart(const Words& words, const Draw& drawn) {
  const std::string& a = words.chinese.noun(*drawn.a.phrase.noun).word;
  const std::string& b = words.chinese.noun(*drawn.b.phrase.noun).word;
  if (words.direction == Direction::kFromChinese) {
    return pronoun_of(drawn.a).subject != pronoun_of(drawn.b).subject;
  }
  return a.find(b) == std::string::npos && b.find(a) == std::string::npos;
}

Draw draw_nouns(const Words& words, const ChinesePattern& pattern, base::Random& random) {
  const CoreferencePattern& english = english_pattern(pattern);
  Draw drawn{pattern, {}, {}, draw_classed(words, "person", random)};
  const bool from_chinese = words.direction == Direction::kFromChinese;
  do {
    const bool about_person = from_chinese && pattern.people && chance(kPersonChance, random);
    drawn.a = draw_classed(words, about_person ? "person" : english.class_a, random);
    drawn.b = draw_classed(words, english.class_b, random);
    if (from_chinese) {
      draw_number(drawn.a, random);
      draw_number(drawn.b, random);
    }
  } while (!are_told_apart(words, drawn));
  return drawn;
}

Statement statement_of(const Words& words, const Draw& drawn) {
  const CoreferencePattern& english = english_pattern(drawn.pattern);
  MainClause main;
  main.english_subject = english_phrase((english.person ? drawn.person : drawn.a).phrase);
  main.english_auxiliary = english.english_auxiliary;
  main.english_past = english.english_past;
  main.english_base = english.english_base;
  main.english_rest = english.english_rest;
  replace_slot(main.english_rest, "{A}", english_phrase(drawn.a.phrase));
  replace_slot(main.english_rest, "{B}", english_phrase(drawn.b.phrase));
  std::string chinese(drawn.pattern.statement);
  replace_slot(chinese, "{A}", chinese_phrase(words.chinese, drawn.a));
  replace_slot(chinese, "{B}", chinese_phrase(words.chinese, drawn.b));
  replace_slot(chinese, "{P}", chinese_phrase(words.chinese, drawn.person));
  return {std::move(main), std::move(chinese)};
}

// 由于 leads, and 直到 follows, as is usual.
Frame draw_frame(const Connective& connective, base::Random& random) {
  if (connective.english == "because") {
    return pick(std::array{Frame::kTrailing, Frame::kTrailing, Frame::kAdverbFirst, Frame::kAdverbInside,
                           Frame::kLeading, Frame::kLeadingAdverbInside, Frame::kQuestion},
                random);
  }
  if (connective.english == "since") {
    return pick(std::array{Frame::kLeading, Frame::kLeadingAdverbInside}, random);
  }
  if (connective.english == "although") {
    return pick(std::array{Frame::kTrailing, Frame::kAdverbFirst, Frame::kLeading, Frame::kLeadingAdverbInside},
                random);
  }
  return pick(std::array{Frame::kTrailing, Frame::kAdverbFirst, Frame::kAdverbInside}, random);
}

// The noun that Chinese repeats, or nothing where it leaves the pronoun out.
std::string repeated_noun(const Words& words, const ClassedPhrase& antecedent) {
  if (words.direction == Direction::kFromChinese) {
    return "";
  }
  ClassedPhrase plain = antecedent;
  plain.phrase.attribute = nullptr;
  return chinese_phrase(words.chinese, plain);
}

Clause fixed_clause(const Words& words, const Connective& connective, std::string_view entry,
                    const ClassedPhrase& antecedent) {
  const EnglishPronoun& pronoun = pronoun_of(antecedent);
  const size_t equals = entry.find('=');
  Clause clause{&connective, std::string(entry.substr(0, equals)), std::string(entry.substr(equals + 1))};
  clause.pronoun = clause.english.find("<obj>") == std::string::npos ? pronoun.subject : pronoun.object;
  replace_slot(clause.english, "<it>", pronoun.subject);
  replace_slot(clause.english, "<obj>", pronoun.object);
  replace_slot(clause.english, "<was>", pronoun.verb);
  replace_slot(clause.chinese, "<np>", repeated_noun(words, antecedent));
  return clause;
}

Clause adjective_clause(const Words& words, const Connective& connective, std::string_view adjective,
                        const Rendering& degree, const ClassedPhrase& antecedent) {
  const EnglishPronoun& pronoun = pronoun_of(antecedent);
  return {&connective,
          std::string(pronoun.subject) + ' ' + std::string(pronoun.verb) + ' ' + english_predicate(degree, adjective),
          repeated_noun(words, antecedent) + filled(degree.chinese, "*", words.chinese.predicate(adjective).word),
          pronoun.subject};
}

// The clause that can only speak of A (or of B).
Clause draw_clause(const Words& words, const Draw& drawn, const Connective& connective, bool about_a,
                   base::Random& random) {
  const CoreferencePattern& english = english_pattern(drawn.pattern);
  const ClassedPhrase& antecedent = drawn.antecedent(about_a);
  if (const auto fixed = about_a ? drawn.pattern.clauses_a : drawn.pattern.clauses_b; !fixed.empty()) {
    return fixed_clause(words, connective, pick(split_words(fixed, '|'), random), antecedent);
  }
  const std::string_view adjective = pick(split_words(about_a ? english.adjectives_a : english.adjectives_b), random);
  return adjective_clause(words, connective, adjective, draw_degree(words, adjective, english.degrees, random),
                          antecedent);
}

Coreference coreference_of(const Words& words, const Draw& drawn, bool about_a, const Clause& clause) {
  const NounPhrase& antecedent = drawn.antecedent(about_a).phrase;
  const NounPhrase& rival = drawn.antecedent(!about_a).phrase;
  return {std::string(drawn.pattern.name),
          words.direction == Direction::kFromChinese ? std::string(clause.pronoun)
                                                     : demonstrative(words.chinese, antecedent),
          antecedent.noun->english,
          words.chinese.noun(*antecedent.noun).word,
          rival.noun->english,
          words.chinese.noun(*rival.noun).word};
}

const Connective& draw_connective(const Draw& drawn, base::Random& random) {
  return connective_named(pick(split_words(english_pattern(drawn.pattern).connectives, '|'), random));
}

std::vector<SamplePair> draw_coreference(const Words& words, base::Random& random) {
  const Draw drawn = draw_nouns(words, pick(kChinesePatterns, random), random);
  const Statement main = statement_of(words, drawn);
  const Connective& connective = draw_connective(drawn, random);
  const Frame frame = draw_frame(connective, random);
  const Adverbial& adverbial = pick(words.english.adverbials(), random);
  std::vector<SamplePair> pairs;
  for (const bool about_a : {true, false}) {
    const Clause clause = draw_clause(words, drawn, connective, about_a, random);
    pairs.push_back(compose(words, main, clause, frame, adverbial));
    pairs.back().coreference = coreference_of(words, drawn, about_a, clause);
    pairs.back().key = drawn.key();
  }
  return pairs;
}

// A main clause of the patterns without a second clause, or with one about the weather.
SamplePair draw_main_only(const Words& words, base::Random& random) {
  const Draw drawn = draw_nouns(words, pick(kChinesePatterns, random), random);
  const Statement main = statement_of(words, drawn);
  const Connective& connective = draw_connective(drawn, random);
  const Adverbial& adverbial = pick(words.english.adverbials(), random);
  SamplePair pair;
  if (english_pattern(drawn.pattern).weather && chance(0.4, random)) {
    const Rendering& weather = pick(kChineseWeather, random);
    pair = compose(words, main, {&connective, std::string(weather.english), std::string(weather.chinese)},
                   draw_frame(connective, random), adverbial);
  } else {
    pair = compose_alone(words, main, draw_frame(connective_named("because"), random), adverbial);
  }
  pair.key = drawn.key();
  return pair;
}

SamplePair draw_plain(const Words& words, base::Random& random) {
  using Drawer = SamplePair (*)(const Words&, base::Random&);
  constexpr std::array<Drawer, 8> kDrawers = {draw_main_only, draw_main_only, draw_main_only, draw_copula,
                                              draw_existence, draw_witness,   draw_count,     draw_wish};
  return pick(kDrawers, random)(words, random);
}

}  // namespace

std::vector<SamplePair> ChineseGrammar::draw(base::Random& random) const {
  const Words words{lexicon_, chinese_, direction_};
  if (chance(kCoreferenceChance, random)) {
    return draw_coreference(words, random);
  }
  return {draw_plain(words, random)};
}

std::vector<SamplePair> ChineseGrammar::well_known_example() const {
  const Words words{lexicon_, chinese_, direction_};
  Draw drawn{kChinesePatterns.front(),
             {{lexicon_.nouns("animal").front()}, "animal"},
             {{lexicon_.nouns("road").front()}, "road"},
             {{lexicon_.nouns("person").front()}, "person"}};
  if (direction_ == Direction::kFromChinese) {
    drawn.a.phrase.number = Number::kPlural;  // otherwise both are "it"
  }
  std::vector<SamplePair> pairs;
  for (const bool about_animal : {true, false}) {
    const Clause clause = adjective_clause(words, connective_named("because"), about_animal ? "tired" : "wide",
                                           {"too", chinese_of(kChineseDegrees, "too")}, drawn.antecedent(about_animal));
    pairs.push_back(compose(words, statement_of(words, drawn), clause, Frame::kTrailing, {}));
    pairs.back().coreference = coreference_of(words, drawn, about_animal, clause);
    pairs.back().key = drawn.key();
  }
  return pairs;
}

}  // namespace dragoman::data::sample
