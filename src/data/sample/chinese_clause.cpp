#include "data/sample/chinese_clause.h"

#include <algorithm>

#include "base/error.h"
#include "data/sample/draw.h"

namespace dragoman::data::sample {

namespace {

constexpr double kPluralChance = 0.35;

bool is_person(const ClassedPhrase& classed) {
  return classed.noun_class == "person";
}

}  // namespace

void Statement::put_inside(const Words& words, const Adverbial& adverbial) {
  english.english_rest += ' ' + adverbial.english;
  replace_slot(chinese, "{T}", words.chinese.adverbial(adverbial.english) + "{T}");
}

std::string Clause::english_joined() const {
  return std::string(connective->english) + ' ' + english;
}

std::string Clause::chinese_joined() const {
  return std::string(chinese_of(kChineseConnectives, connective->english)) + chinese;
}

const CoreferencePattern& english_pattern(const ChinesePattern& pattern) {
  return *std::ranges::find(kCoreferencePatterns, pattern.name, &CoreferencePattern::name);
}

std::string_view chinese_of(std::span<const Rendering> table, std::string_view english) {
  const auto found = std::ranges::find(table, english, &Rendering::english);
  base::check_argument(found != table.end(), "sample corpus: '{}' has no Chinese in the patterns", english);
  return found->chinese;
}

std::string filled(std::string_view text, std::string_view slot, std::string_view value) {
  std::string result(text);
  replace_slot(result, slot, value);
  return result;
}

const EnglishPronoun& pronoun_of(const ClassedPhrase& classed) {
  if (classed.phrase.number == Number::kPlural) {
    return kThey;
  }
  if (!is_person(classed)) {
    return kIt;
  }
  // The nouns of people have their own gender in German, but for the girl.
  return classed.phrase.noun->gender == Gender::kMasculine ? kHe : kShe;
}

ClassedPhrase draw_classed(const Words& words, std::string_view noun_class, base::Random& random) {
  return {draw_phrase(words.english, noun_class, random), noun_class};
}

void draw_number(ClassedPhrase& classed, base::Random& random) {
  if (!is_person(classed) && !classed.phrase.noun->english_plural.empty() && chance(kPluralChance, random)) {
    classed.phrase.number = Number::kPlural;
  }
}

// "too tired" and 太累了, or an adjective without degree.
Rendering draw_degree(const Words& words, std::string_view adjective, std::string_view choices, base::Random& random) {
  const std::vector<std::string_view> all = split_words(choices, '|');
  const auto graded = std::ranges::count_if(all, [](std::string_view degree) { return degree != "-"; });
  const std::string_view chosen = all[random.below(static_cast<uint64_t>(graded))];  // "-" stands last
  return words.chinese.predicate(adjective).gradable ? Rendering{chosen, chinese_of(kChineseDegrees, chosen)}
                                                     : Rendering{"", "*"};
}

std::string english_predicate(const Rendering& degree, std::string_view adjective) {
  return std::string(degree.english) + (degree.english.empty() ? "" : " ") + std::string(adjective);
}

SamplePair finish_sentence(std::string english, std::string_view chinese, std::string_view stop) {
  SamplePair pair;
  pair.english = capitalized(std::move(english)).append(stop);
  pair.other = filled(chinese, "{T}", "").append(stop == "?" ? "？" : "。");
  pair.key = pair.english;
  return pair;
}

SamplePair compose(const Words& words, Statement main, const Clause& clause, Frame frame, const Adverbial& adverbial) {
  const std::string comma = clause.connective->comma ? ", " : " ";
  if (frame == Frame::kAdverbInside || frame == Frame::kLeadingAdverbInside) {
    main.put_inside(words, adverbial);
  }
  if (frame == Frame::kLeading || frame == Frame::kLeadingAdverbInside) {
    if (clause.connective->english == "although") {
      replace_slot(main.chinese, "{T}", "还是");
    }
    return finish_sentence(clause.english_joined() + ", " + main.english.english_statement(),
                           clause.chinese_joined() + "，" + main.chinese, ".");
  }
  if (frame == Frame::kQuestion) {
    return finish_sentence("why " + main.english.english_question() + "? Because " + clause.english,
                           filled(main.chinese, "{T}", "为什么") + "？因为" + clause.chinese, ".");
  }
  const bool first = frame == Frame::kAdverbFirst;
  return finish_sentence(
      (first ? adverbial.english + ' ' : "") + main.english.english_statement() + comma + clause.english_joined(),
      (first ? words.chinese.adverbial(adverbial.english) : "") + main.chinese + "，" + clause.chinese_joined(), ".");
}

SamplePair compose_alone(const Words& words, Statement main, Frame frame, const Adverbial& adverbial) {
  switch (frame) {
    case Frame::kAdverbFirst:
      return finish_sentence(adverbial.english + ' ' + main.english.english_statement(),
                             words.chinese.adverbial(adverbial.english) + main.chinese, ".");
    case Frame::kAdverbInside:
    case Frame::kLeadingAdverbInside:
      main.put_inside(words, adverbial);
      break;
    case Frame::kQuestion:
      return finish_sentence(main.english.english_question(), main.chinese + "吗", "?");
    case Frame::kTrailing:
    case Frame::kLeading:
      break;
  }
  return finish_sentence(main.english.english_statement(), main.chinese, ".");
}

}  // namespace dragoman::data::sample
