#include "data/sample/chinese_plain.h"

#include <array>

#include "data/sample/draw.h"

namespace dragoman::data::sample {

namespace {

// 三条老狗
std::string counted_chinese(const Words& words, const Rendering& numeral, const ClassedPhrase& things) {
  return filled(numeral.chinese, "*", words.chinese.noun(*things.phrase.noun).measure) +
         chinese_phrase(words.chinese, things);
}

void make_countable(ClassedPhrase& things) {
  things.phrase.number = Number::kPlural;
  things.phrase.determiner = Determiner::kNone;
}

}  // namespace

SamplePair draw_copula(const Words& words, base::Random& random) {
  const ChinesePattern& pattern = pick(kChinesePatterns, random);
  const CoreferencePattern& english = english_pattern(pattern);
  const bool about_a = chance(0.5, random);
  const std::string_view adjectives = about_a ? english.adjectives_a : english.adjectives_b;
  ClassedPhrase subject = draw_classed(words, about_a ? english.class_a : english.class_b, random);
  draw_number(subject, random);
  const std::string_view adjective = pick(split_words(adjectives.empty() ? "large small" : adjectives), random);
  const Rendering degree = draw_degree(words, adjective, "very|too", random);
  return finish_sentence(
      english_phrase(subject.phrase) + ' ' + std::string(pronoun_of(subject).verb) + ' ' +
          english_predicate(degree, adjective),
      chinese_phrase(words.chinese, subject) + filled(degree.chinese, "*", words.chinese.predicate(adjective).word),
      ".");
}

SamplePair draw_existence(const Words& words, base::Random& random) {
  ClassedPhrase thing = draw_classed(words, english_pattern(pick(kChinesePatterns, random)).class_a, random);
  const ClassedPhrase place = draw_classed(words, "place", random);
  const bool is_mass = thing.phrase.noun->english_plural.empty();
  const bool is_there = !is_mass && chance(0.7, random);
  thing.phrase.determiner = is_there ? Determiner::kIndefinite : Determiner::kNegative;
  return finish_sentence(
      "there was " + english_phrase(thing.phrase) + " in " + english_phrase(place.phrase),
      chinese_phrase(words.chinese, place) + "里" + (is_there ? "有" : "没有") + chinese_phrase(words.chinese, thing),
      ".");
}

SamplePair draw_witness(const Words& words, base::Random& random) {
  const CoreferencePattern& pattern = english_pattern(pick(kChinesePatterns, random));
  const ClassedPhrase person = draw_classed(words, "person", random);
  ClassedPhrase thing = draw_classed(words, chance(0.5, random) ? pattern.class_a : pattern.class_b, random);
  const ClassedPhrase landmark = draw_classed(words, pick(std::array{"place", "climbable", "vehicle"}, random), random);
  if (!thing.phrase.noun->english_plural.empty() && chance(0.7, random)) {
    thing.phrase.determiner = Determiner::kIndefinite;
  }
  const Rendering& verb = pick(kChinesePast, random);
  const Rendering& position = pick(kChinesePositions, random);
  MainClause english;
  english.english_subject = english_phrase(person.phrase);
  english.english_past = verb.english;
  english.english_rest =
      english_phrase(thing.phrase) + ' ' + std::string(position.english) + ' ' + english_phrase(landmark.phrase);
  const std::string chinese = chinese_phrase(words.chinese, person) + "{T}在" +
                              chinese_phrase(words.chinese, landmark) + std::string(position.chinese) +
                              std::string(verb.chinese) + chinese_phrase(words.chinese, thing);
  const Frame frame = chance(0.5, random) ? Frame::kTrailing : Frame::kAdverbFirst;
  return compose_alone(words, {std::move(english), chinese}, frame, pick(words.english.adverbials(), random));
}

SamplePair draw_count(const Words& words, base::Random& random) {
  ClassedPhrase animals = draw_classed(words, "animal", random);
  make_countable(animals);
  const ClassedPhrase place = draw_classed(words, "place", random);
  const Rendering& numeral = pick(kChineseNumerals, random);
  const Rendering& verb = pick(kChinesePluralVerbs, random);
  MainClause english;
  english.english_subject = std::string(numeral.english) + ' ' + english_phrase(animals.phrase);
  english.english_past = verb.english;
  english.english_rest = "in " + english_phrase(place.phrase);
  const std::string chinese = counted_chinese(words, numeral, animals) + "{T}" +
                              filled(verb.chinese, "*", chinese_phrase(words.chinese, place));
  const Frame frame = chance(0.5, random) ? Frame::kTrailing : Frame::kAdverbFirst;
  return compose_alone(words, {std::move(english), chinese}, frame, pick(words.english.adverbials(), random));
}

SamplePair draw_wish(const Words& words, base::Random& random) {
  const CoreferencePattern& pattern = english_pattern(pick(kChinesePatterns, random));
  const ClassedPhrase person = draw_classed(words, "person", random);
  ClassedPhrase thing = draw_classed(words, chance(0.5, random) ? pattern.class_a : pattern.class_b, random);
  const Rendering& modal = pick(kChineseModals, random);
  const Rendering& verb = pick(kChineseInfinitives, random);
  std::string english =
      english_phrase(person.phrase) + ' ' + std::string(modal.english) + ' ' + std::string(verb.english) + ' ';
  std::string chinese = chinese_phrase(words.chinese, person) + std::string(modal.chinese) + std::string(verb.chinese);
  if (!thing.phrase.noun->english_plural.empty() && chance(0.4, random)) {
    make_countable(thing);
    const Rendering& numeral = pick(kChineseNumerals, random);
    english += std::string(numeral.english) + ' ';
    chinese += counted_chinese(words, numeral, thing);
  } else {
    chinese += chinese_phrase(words.chinese, thing);
  }
  return finish_sentence(english + english_phrase(thing.phrase), chinese, ".");
}

}  // namespace dragoman::data::sample
