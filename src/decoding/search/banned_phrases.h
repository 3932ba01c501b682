#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/vocabulary/vocabulary.h"

namespace dragoman::decoding {

/// Phrases that no translation may hold: as words of their own, inside words, and whatever pieces spell them, for they
/// are looked for in the text of the pieces. Upper and lower case differ; what stands for white space is one space.
///
/// An automaton over bytes (Aho and Corasick 1975): its state after a text is the longest end of the text that begins a
/// phrase. The pieces that would complete a phrase depend on the state alone; they are found when a state is first met,
/// in time proportional to the bytes of the vocabulary, and kept.
/// Any number of threads may use one object.
class BannedPhrases {
 public:
  /// Blank phrases are left out. @param target  the vocabulary of the translations
  BannedPhrases(const data::Vocabulary& target, std::span<const std::string> phrases);

  bool empty() const { return states_.size() == 1; }

  /// The first of the phrases, as the vocabulary normalises it, that stands in `text`; empty if none does.
  std::string_view found_in(std::string_view text) const;

  /// The pieces that would complete a phrase after `history`, ascending. Never the end of the sentence.
  std::span<const int32_t> completing(std::span<const int32_t> history) const;

 private:
  struct State {
    std::map<char, int32_t> longer;  // by the byte more
    int32_t shorter = 0;             // the longest proper end of this state's text that is a state
    bool after_space = false;        // the text ends with a space
    bool ends_phrase = false;        // so does an end of it
  };
  struct Completing {
    std::once_flag found;
    std::vector<int32_t> ids;
  };

  void add(std::string_view phrase);
  void link();
  const State& at(int32_t state) const { return states_[static_cast<size_t>(state)]; }
  int32_t after(int32_t state, char byte) const;
  int32_t after_text(int32_t state, std::string_view text) const;
  bool completes(int32_t state, std::string_view text) const;

  std::vector<std::string> phrases_;
  std::vector<std::string> texts_;  // of each piece
  std::vector<State> states_;       // the first is that of no text
  std::unique_ptr<Completing[]> completing_;
};

}  // namespace dragoman::decoding
