#pragma once

#include <string>
#include <string_view>

#include "base/random.h"
#include "data/sample/lexicon.h"

namespace dragoman::data::sample {

/// Returns one of the elements, each with equal probability.
template <typename Range>
decltype(auto) pick(const Range& range, base::Random& random) {
  return range[random.below(range.size())];
}

inline bool chance(double probability, base::Random& random) {
  return random.uniform() < probability;
}

inline void replace_slot(std::string& text, std::string_view slot, std::string_view value) {
  if (const size_t at = text.find(slot); at != std::string::npos) {
    text.replace(at, slot.size(), value);
  }
}

/// Returns "the dog" or, for a fifth of the draws, "the old dog", with a noun of the class.
inline NounPhrase draw_phrase(const Lexicon& lexicon, std::string_view noun_class, base::Random& random) {
  constexpr double kAttributeChance = 0.2;
  NounPhrase phrase;
  phrase.noun = pick(lexicon.nouns(noun_class), random);
  if (chance(kAttributeChance, random)) {
    phrase.attribute = pick(lexicon.attributes(noun_class), random);
  }
  return phrase;
}

}  // namespace dragoman::data::sample
