#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/sample/german.h"

namespace dragoman::data::sample {

/// An adverbial of time or comment, in both languages: "on Monday", "am Montag".
struct Adverbial {
  std::string english;
  std::string german;
};

/// The words of the sample corpus. Immutable after construction; safe to read from many threads.
/// References to its words stay valid as long as it lives.
class Lexicon {
 public:
  /// @param class_limit  at most this many nouns of each class and adverbials are used (small corpora need few words,
  ///                     so that each occurs in training); 0 = all.
  explicit Lexicon(size_t class_limit = 0);
  Lexicon(const Lexicon&) = delete;
  Lexicon& operator=(const Lexicon&) = delete;

  /// The nouns of a semantic class such as "animal", "road" or "container". Throws: Error(kRuntime) for an unknown
  /// class.
  const std::vector<const Noun*>& nouns(std::string_view noun_class) const;
  /// The adjectives that may stand before any noun of the class without telling which noun a pronoun means.
  const std::vector<const Adjective*>& attributes(std::string_view noun_class) const;
  /// The adjective with this English word. Throws: Error(kRuntime) for an unknown one.
  const Adjective& adjective(std::string_view english) const;
  const std::vector<Adverbial>& adverbials() const { return adverbials_; }
  const std::map<std::string, Noun, std::less<>>& all_nouns() const { return nouns_; }

 private:
  void read_nouns(std::string_view table);
  void read_classes(std::string_view table, size_t class_limit);
  void read_adjectives(std::string_view table);
  void read_attributes(std::string_view table);

  std::map<std::string, Noun, std::less<>> nouns_;            // by English word
  std::map<std::string, Adjective, std::less<>> adjectives_;  // by English word
  std::map<std::string, std::vector<const Noun*>, std::less<>> classes_;
  std::map<std::string, std::vector<const Adjective*>, std::less<>> attributes_;
  std::vector<Adverbial> adverbials_;
};

/// `text` cut at every run of `separator`, without empty parts.
std::vector<std::string_view> split_words(std::string_view text, char separator = ' ');

}  // namespace dragoman::data::sample
