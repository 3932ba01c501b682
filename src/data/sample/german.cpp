#include "data/sample/german.h"

#include <utility>

namespace dragoman::data::sample {

namespace {

// Rows: nominative, accusative, dative. Columns: masculine, feminine, neuter.
using FormTable = std::array<std::array<std::string_view, 3>, 3>;

constexpr FormTable kDefiniteArticle = {{{"der", "die", "das"}, {"den", "die", "das"}, {"dem", "der", "dem"}}};
constexpr FormTable kIndefiniteArticle = {
    {{"ein", "eine", "ein"}, {"einen", "eine", "ein"}, {"einem", "einer", "einem"}}};
constexpr FormTable kWeakEnding = {{{"e", "e", "e"}, {"en", "e", "e"}, {"en", "en", "en"}}};
constexpr FormTable kMixedEnding = {{{"er", "e", "es"}, {"en", "e", "es"}, {"en", "en", "en"}}};
constexpr FormTable kPronoun = {{{"er", "sie", "es"}, {"ihn", "sie", "es"}, {"ihm", "ihr", "ihm"}}};

std::string_view form(const FormTable& table, Case grammatical_case, Gender gender) {
  return table[static_cast<size_t>(grammatical_case)][static_cast<size_t>(gender)];
}

std::string german_plural_phrase(const NounPhrase& phrase, Case grammatical_case) {
  const bool dative = grammatical_case == Case::kDative;
  std::string noun = phrase.noun->german_plural;
  if (dative && noun.back() != 'n' && noun.back() != 's') {
    noun += 'n';
  }
  if (phrase.attribute == nullptr) {
    return noun;
  }
  return phrase.attribute->stem + (dative ? "en " : "e ") + noun;
}

std::string german_determiner(Determiner determiner, Case grammatical_case, Gender gender) {
  switch (determiner) {
    case Determiner::kDefinite:
      return std::string(form(kDefiniteArticle, grammatical_case, gender)) + ' ';
    case Determiner::kIndefinite:
      return std::string(form(kIndefiniteArticle, grammatical_case, gender)) + ' ';
    case Determiner::kNegative:
      return 'k' + std::string(form(kIndefiniteArticle, grammatical_case, gender)) + ' ';
    case Determiner::kNone:
      break;
  }
  return "";
}

std::string english_determiner(Determiner determiner, char next_letter) {
  switch (determiner) {
    case Determiner::kDefinite:
      return "the ";
    case Determiner::kIndefinite:
      return std::string_view("aeiou").find(next_letter) == std::string_view::npos ? "a " : "an ";
    case Determiner::kNegative:
      return "no ";
    case Determiner::kNone:
      break;
  }
  return "";
}

}  // namespace

std::string english_phrase(const NounPhrase& phrase) {
  std::string words = phrase.attribute == nullptr ? "" : phrase.attribute->english + ' ';
  words += phrase.number == Number::kPlural ? phrase.noun->english_plural : phrase.noun->english;
  return english_determiner(phrase.determiner, words.front()) + words;
}

std::string german_phrase(const NounPhrase& phrase, Case grammatical_case) {
  if (phrase.number == Number::kPlural) {
    return german_plural_phrase(phrase, grammatical_case);
  }
  const Gender gender = phrase.noun->gender;
  std::string words = german_determiner(phrase.determiner, grammatical_case, gender);
  if (phrase.attribute != nullptr) {
    const FormTable& ending = phrase.determiner == Determiner::kDefinite ? kWeakEnding : kMixedEnding;
    words += phrase.attribute->stem + std::string(form(ending, grammatical_case, gender)) + ' ';
  }
  words += phrase.noun->german;
  if (grammatical_case != Case::kNominative) {
    words += phrase.noun->oblique_suffix;
  }
  return words;
}

std::string_view german_pronoun(Gender gender, Case grammatical_case) {
  return form(kPronoun, grammatical_case, gender);
}

std::string contract_prepositions(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kContractions = {
      {{"in dem ", "im "}, {"in das ", "ins "}, {"an dem ", "am "}, {"bei dem ", "beim "}}};
  for (const auto& [full, contracted] : kContractions) {
    for (size_t at = text.find(full); at != std::string::npos; at = text.find(full, at + 1)) {
      if (at == 0 || text[at - 1] == ' ') {
        text.replace(at, full.size(), contracted);
      }
    }
  }
  return text;
}

std::string capitalized(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kUmlauts = {
      {{"ä", "Ä"}, {"ö", "Ö"}, {"ü", "Ü"}}};
  for (const auto& [lower, upper] : kUmlauts) {
    if (text.starts_with(lower)) {
      return text.replace(0, lower.size(), upper);
    }
  }
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  return text;
}

}  // namespace dragoman::data::sample
