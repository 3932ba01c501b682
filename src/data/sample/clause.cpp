#include "data/sample/clause.h"

#include <utility>

namespace dragoman::data::sample {

namespace {

SamplePair trailing(std::string english, std::string german, const ItClause& clause) {
  const Connective& connective = *clause.connective;
  english.append(connective.comma ? ", " : " ").append(connective.english).append(" ").append(clause.english);
  german.append(connective.verb == VerbPosition::kCoordinate ? " " : ", ");
  german.append(connective.german).append(" ").append(clause.german);
  return finish(std::move(english), std::move(german), ".");
}

SamplePair leading(const MainClause& main, const ItClause& clause) {
  const Connective& connective = *clause.connective;
  return finish(std::string(connective.english) + ' ' + clause.english + ", " + main.english_statement(),
                std::string(connective.german) + ' ' + clause.german + ", " + main.german_inverted(), ".");
}

SamplePair question_and_answer(const MainClause& main, const ItClause& clause) {
  return finish("why " + main.english_question() + "? Because " + clause.english,
                "warum " + main.german_inverted() + "? Weil " + clause.german, ".");
}

}  // namespace

SamplePair finish(std::string english, std::string german, std::string_view stop) {
  SamplePair pair;
  pair.english = capitalized(std::move(english)).append(stop);
  pair.other = capitalized(contract_prepositions(std::move(german))).append(stop);
  pair.key = pair.english;
  return pair;
}

SamplePair compose(MainClause main, const ItClause& clause, Frame frame, const Adverbial& adverbial) {
  switch (frame) {
    case Frame::kTrailing:
      break;
    case Frame::kAdverbFirst:
      return trailing(adverbial.english + ' ' + main.english_statement(),
                      adverbial.german + ' ' + main.german_inverted(), clause);
    case Frame::kAdverbInside:
      main.put_adverbial_inside(adverbial);
      break;
    case Frame::kLeading:
      return leading(main, clause);
    case Frame::kLeadingAdverbInside:
      main.put_adverbial_inside(adverbial);
      return leading(main, clause);
    case Frame::kQuestion:
      return question_and_answer(main, clause);
  }
  return trailing(main.english_statement(), main.german_statement(), clause);
}

SamplePair compose_plain(MainClause main, Frame frame, const Adverbial& adverbial) {
  switch (frame) {
    case Frame::kAdverbFirst:
      return finish(adverbial.english + ' ' + main.english_statement(), adverbial.german + ' ' + main.german_inverted(),
                    ".");
    case Frame::kAdverbInside:
    case Frame::kLeadingAdverbInside:
      main.put_adverbial_inside(adverbial);
      break;
    case Frame::kQuestion:
      return finish(main.english_question(), main.german_inverted(), "?");
    case Frame::kTrailing:
    case Frame::kLeading:
      break;
  }
  return finish(main.english_statement(), main.german_statement(), ".");
}

}  // namespace dragoman::data::sample
