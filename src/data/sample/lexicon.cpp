#include "data/sample/lexicon.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "data/sample/words.h"

namespace dragoman::data::sample {

namespace {

template <typename Map>
const typename Map::mapped_type& find_entry(const Map& map, std::string_view what, std::string_view key) {
  const auto found = map.find(key);
  base::check_argument(found != map.end(), "sample corpus: unknown {} '{}' in the word lists", what, key);
  return found->second;
}

// "class: word word ..." -> the class and its words.
std::pair<std::string, std::vector<std::string_view>> split_class(std::string_view line) {
  const size_t colon = line.find(':');
  return {std::string(line.substr(0, colon)), split_words(line.substr(colon + 1))};
}

std::string word_or_none(std::string_view word) {
  return word == "-" ? "" : std::string(word);
}

Gender gender_named(std::string_view letter) {
  return letter == "m" ? Gender::kMasculine : letter == "f" ? Gender::kFeminine : Gender::kNeuter;
}

std::string default_stem(const std::string& german) {
  return german.back() == 'e' ? german.substr(0, german.size() - 1) : german;
}

}  // namespace

std::vector<std::string_view> split_words(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) {
      words.push_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

Lexicon::Lexicon(size_t class_limit) {
  read_nouns(kNounTable);
  read_classes(kClassTable, class_limit);
  read_adjectives(kAdjectiveTable);
  read_attributes(kAttributeTable);
  for (const std::string_view line : split_words(kAdverbialTable, '\n')) {
    const size_t slash = line.find(" / ");
    if (class_limit == 0 || adverbials_.size() < class_limit) {
      adverbials_.push_back({std::string(line.substr(0, slash)), std::string(line.substr(slash + 3))});
    }
  }
}

void Lexicon::read_nouns(std::string_view table) {
  for (const std::string_view line : split_words(table, '\n')) {
    const std::vector<std::string_view> field = split_words(line);
    base::check_argument(field.size() == 5 || field.size() == 6, "sample corpus: noun line '{}' must have 5 or 6 words",
                         line);
    Noun noun;
    noun.english = field[0];
    noun.english_plural = word_or_none(field[1]);
    noun.gender = gender_named(field[2]);
    noun.german = field[3];
    noun.german_plural = word_or_none(field[4]);
    noun.oblique_suffix = field.size() == 6 ? field[5] : "";
    const bool added = nouns_.emplace(noun.english, noun).second;
    base::check_argument(added, "sample corpus: noun '{}' is listed twice", noun.english);
  }
}

void Lexicon::read_classes(std::string_view table, size_t class_limit) {
  for (const std::string_view line : split_words(table, '\n')) {
    const auto [name, words] = split_class(line);
    std::vector<const Noun*>& members = classes_[name];
    for (const std::string_view word : words) {
      if (class_limit == 0 || members.size() < class_limit) {
        members.push_back(&find_entry(nouns_, "noun", word));
      }
    }
  }
}

void Lexicon::read_adjectives(std::string_view table) {
  for (const std::string_view line : split_words(table, '\n')) {
    std::vector<std::string_view> field = split_words(line);
    Adjective adjective;
    adjective.gradable = field.back() != "!";
    if (!adjective.gradable) {
      field.pop_back();
    }
    adjective.english = field[0];
    adjective.german = field[1];
    adjective.stem = field.size() > 2 ? std::string(field[2]) : default_stem(adjective.german);
    const bool added = adjectives_.emplace(adjective.english, adjective).second;
    base::check_argument(added, "sample corpus: adjective '{}' is listed twice", adjective.english);
  }
}

void Lexicon::read_attributes(std::string_view table) {
  for (const std::string_view line : split_words(table, '\n')) {
    const auto [name, words] = split_class(line);
    for (const std::string_view word : words) {
      attributes_[name].push_back(&adjective(word));
    }
  }
}

const std::vector<const Noun*>& Lexicon::nouns(std::string_view noun_class) const {
  return find_entry(classes_, "class", noun_class);
}

const std::vector<const Adjective*>& Lexicon::attributes(std::string_view noun_class) const {
  return find_entry(attributes_, "class", noun_class);
}

const Adjective& Lexicon::adjective(std::string_view english) const {
  return find_entry(adjectives_, "adjective", english);
}

}  // namespace dragoman::data::sample
