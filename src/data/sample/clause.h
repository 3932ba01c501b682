#pragma once

#include <string>
#include <string_view>

#include "data/sample/lexicon.h"
#include "data/sample/patterns.h"
#include "data/sample/sample_pair.h"

namespace dragoman::data::sample {

/// The order of main clause and clause with "it".
enum class Frame { kTrailing, kAdverbFirst, kAdverbInside, kLeading, kLeadingAdverbInside, kQuestion };

/// A clause in both languages; German in three parts, because the subject and the verb change places.
struct MainClause {
  std::string english_subject, english_auxiliary, english_past, english_base, english_rest;
  std::string german_subject, german_verb, german_rest;

  std::string english_statement() const {
    const std::string predicate = english_auxiliary.empty() ? english_past : english_auxiliary + ' ' + english_base;
    return english_subject + ' ' + predicate + ' ' + english_rest;
  }
  std::string english_question() const {
    const std::string auxiliary = english_auxiliary.empty() ? "did" : english_auxiliary;
    return auxiliary + ' ' + english_subject + ' ' + english_base + ' ' + english_rest;
  }
  std::string german_statement() const { return german_subject + ' ' + german_verb + ' ' + german_rest; }
  std::string german_inverted() const { return german_verb + ' ' + german_subject + ' ' + german_rest; }

  void put_adverbial_inside(const Adverbial& adverbial) {
    english_rest += ' ' + adverbial.english;
    german_rest = adverbial.german + ' ' + german_rest;
  }
};

/// The clause with "it"; the German pronoun is already in its place.
struct ItClause {
  const Connective* connective = nullptr;
  std::string english;
  std::string german;
  Case pronoun_case = Case::kNominative;  ///< of the German pronoun
};

/// A sentence from its words: first letters upper case, prepositions contracted, `stop` at the end.
SamplePair finish(std::string english, std::string german, std::string_view stop);

/// Main clause and clause with "it" in the order that `frame` names. Frames without an adverb ignore `adverbial`.
SamplePair compose(MainClause main, const ItClause& clause, Frame frame, const Adverbial& adverbial);

/// The main clause alone, as a statement or (kQuestion) as a question.
SamplePair compose_plain(MainClause main, Frame frame, const Adverbial& adverbial);

}  // namespace dragoman::data::sample
