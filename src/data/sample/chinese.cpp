#include "data/sample/chinese.h"

#include "base/error.h"
#include "data/sample/chinese_words.h"

namespace dragoman::data::sample {

namespace {

template <typename Map>
const typename Map::mapped_type& chinese_of(const Map& map, std::string_view what, std::string_view english) {
  const auto found = map.find(english);
  base::check_argument(found != map.end(), "sample corpus: the {} '{}' has no Chinese in the word lists", what,
                       english);
  return found->second;
}

}  // namespace

ChineseLexicon::ChineseLexicon(const Lexicon& english) {
  for (const std::string_view line : split_words(kChineseNounTable, '\n')) {
    const std::vector<std::string_view> field = split_words(line);
    base::check_argument(field.size() == 3, "sample corpus: Chinese noun line '{}' must have 3 words", line);
    nouns_.emplace(field[0], ChineseNoun{std::string(field[1]), std::string(field[2])});
  }
  for (const std::string_view line : split_words(kChinesePredicateTable, '\n')) {
    const std::vector<std::string_view> field = split_words(line);
    predicates_.emplace(field[0], ChinesePredicate{std::string(field[1]), field.size() == 2});
  }
  for (const std::string_view line : split_words(kChineseAttributeTable, '\n')) {
    const std::vector<std::string_view> field = split_words(line);
    attributes_.emplace(field[0], field[1]);
  }
  for (const std::string_view line : split_words(kChineseAdverbialTable, '\n')) {
    const size_t slash = line.find(" / ");
    adverbials_.emplace(line.substr(0, slash), line.substr(slash + 3));
  }
  for (const auto& [word, noun] : english.all_nouns()) {
    chinese_of(nouns_, "noun", word);
  }
}

const ChineseNoun& ChineseLexicon::noun(const Noun& noun) const {
  return chinese_of(nouns_, "noun", noun.english);
}

const ChinesePredicate& ChineseLexicon::predicate(std::string_view english) const {
  return chinese_of(predicates_, "predicate", english);
}

const std::string& ChineseLexicon::attribute(std::string_view english, std::string_view noun_class) const {
  const auto of_class = attributes_.find(std::string(english) + '@' + std::string(noun_class));
  return of_class != attributes_.end() ? of_class->second : chinese_of(attributes_, "attribute", english);
}

const std::string& ChineseLexicon::adverbial(std::string_view english) const {
  return chinese_of(adverbials_, "adverbial", english);
}

std::string demonstrative(const ChineseLexicon& lexicon, const NounPhrase& phrase) {
  return phrase.number == Number::kPlural ? "那些" : "那" + lexicon.noun(*phrase.noun).measure;
}

std::string chinese_phrase(const ChineseLexicon& lexicon, const ClassedPhrase& classed) {
  const NounPhrase& phrase = classed.phrase;
  const ChineseNoun& noun = lexicon.noun(*phrase.noun);
  std::string words;
  if (phrase.determiner == Determiner::kDefinite) {
    words = demonstrative(lexicon, phrase);
  } else if (phrase.determiner == Determiner::kIndefinite) {
    words = "一" + noun.measure;
  }
  if (phrase.attribute != nullptr) {
    words += lexicon.attribute(phrase.attribute->english, classed.noun_class);
  }
  return words + noun.word;
}

}  // namespace dragoman::data::sample
