#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/random.h"
#include "data/sample/chinese.h"
#include "data/sample/chinese_patterns.h"
#include "data/sample/clause.h"
#include "data/sample/patterns.h"
#include "data/sample/sample_pair.h"

namespace dragoman::data::sample {

enum class Direction { kToChinese, kFromChinese };

/// The words of one direction.
struct Words {
  const Lexicon& english;
  const ChineseLexicon& chinese;
  Direction direction;
};

/// A main clause in both languages; the Chinese one with the slot {T}, which `finish_sentence` leaves empty.
struct Statement {
  MainClause english;
  std::string chinese;

  void put_inside(const Words& words, const Adverbial& adverbial);
};

/// A clause with a pronoun, or about the weather.
struct Clause {
  const Connective* connective = nullptr;
  std::string english, chinese;
  std::string_view pronoun = {};  ///< its form in the English clause

  std::string english_joined() const;  ///< with the connective before it
  std::string chinese_joined() const;
};

/// Returns the English pattern with the name of the Chinese one. Requires: there is one.
const CoreferencePattern& english_pattern(const ChinesePattern& pattern);

/// Returns the Chinese of an entry. Throws: Error(kRuntime) if there is none.
std::string_view chinese_of(std::span<const Rendering> table, std::string_view english);

/// Returns `text` with the first `slot` replaced.
std::string filled(std::string_view text, std::string_view slot, std::string_view value);

/// Returns the pronoun that English has for the phrase: he, she, it or they.
const EnglishPronoun& pronoun_of(const ClassedPhrase& classed);

/// Returns a phrase of a noun of the class, in the singular.
ClassedPhrase draw_classed(const Words& words, std::string_view noun_class, base::Random& random);

/// Makes a third of the phrases plural, of those that have one; people stay alone.
void draw_number(ClassedPhrase& classed, base::Random& random);

/// Returns a degree as the adjective allows: "too" and 太*了, or none.
/// @param choices  English words with '|' between them; "-" is not drawn and stands last
Rendering draw_degree(const Words& words, std::string_view adjective, std::string_view choices, base::Random& random);

/// Returns "too tired".
std::string english_predicate(const Rendering& degree, std::string_view adjective);

/// Returns the sentence of two clauses: first letter upper case, the stop at the end.
SamplePair finish_sentence(std::string english, std::string_view chinese, std::string_view stop);

/// Returns main clause and clause in the order that `frame` names. Frames without an adverb ignore `adverbial`.
SamplePair compose(const Words& words, Statement main, const Clause& clause, Frame frame, const Adverbial& adverbial);

/// Returns the main clause alone, as a statement or (kQuestion) as a question.
SamplePair compose_alone(const Words& words, Statement main, Frame frame, const Adverbial& adverbial);

}  // namespace dragoman::data::sample
