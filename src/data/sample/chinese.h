#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/sample/lexicon.h"

namespace dragoman::data::sample {

/// A noun with its measure word: 只 动物.
struct ChineseNoun {
  std::string measure;
  std::string word;
};

/// An adjective after its noun: 累, or 受了伤, which takes no degree.
struct ChinesePredicate {
  std::string word;
  bool gradable = true;
};

/// The Chinese of the words of a Lexicon. Immutable after construction; safe to read from many threads.
class ChineseLexicon {
 public:
  /// @param adverbials  as many are used as the Lexicon has
  explicit ChineseLexicon(const Lexicon& english);
  ChineseLexicon(const ChineseLexicon&) = delete;
  ChineseLexicon& operator=(const ChineseLexicon&) = delete;

  /// Return the Chinese of an English word. Throw: Error(kRuntime) for a word without Chinese.
  const ChineseNoun& noun(const Noun& noun) const;
  const ChinesePredicate& predicate(std::string_view english) const;
  /// Returns the adjective as it stands before nouns of the class: 老, but 旧的 before things.
  const std::string& attribute(std::string_view english, std::string_view noun_class) const;
  /// Returns the Chinese of an English adverbial: 昨天.
  const std::string& adverbial(std::string_view english) const;

 private:
  std::map<std::string, ChineseNoun, std::less<>> nouns_;
  std::map<std::string, ChinesePredicate, std::less<>> predicates_;
  std::map<std::string, std::string, std::less<>> attributes_;
  std::map<std::string, std::string, std::less<>> adverbials_;
};

/// A noun phrase with the class that its noun was drawn from.
struct ClassedPhrase {
  NounPhrase phrase;
  std::string_view noun_class;
};

/// Returns "那只老动物", "那些老动物" (plural), "一只老动物" (indefinite) or "老动物" (negative or without determiner).
std::string chinese_phrase(const ChineseLexicon& lexicon, const ClassedPhrase& phrase);

/// Returns the words before the noun that say which one is meant: "那只", "那些".
std::string demonstrative(const ChineseLexicon& lexicon, const NounPhrase& phrase);

}  // namespace dragoman::data::sample
