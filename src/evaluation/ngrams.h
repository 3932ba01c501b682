#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dragoman::evaluation {

/// One sentence as numbers: a word's number in a `Vocabulary`, or a character's code point.
using Symbols = std::vector<uint32_t>;

/// Gives each different word a number, from 0 in order of first sight. Not safe for use from two threads at once.
class Vocabulary {
 public:
  uint32_t number(std::string_view word);
  Symbols numbers(std::span<const std::string_view> words);

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> numbers_;
};

/// n-grams of order n (1 or more) in a sentence of `length` symbols.
inline int64_t ngram_count(size_t length, size_t n) {
  return length < n ? 0 : static_cast<int64_t>(length - n + 1);
}

/// Counts the n-grams that a hypothesis shares with its references. Exact for any length: an n-gram is known by the
/// number of its first n-1 symbols' n-gram and its last symbol, never by a hash alone.
/// Keeps its scratch memory between calls: one object a thread.
class NgramMatcher {
 public:
  /// matches[n-1] = sum over n-grams g of order n of min(count(g, hypothesis), max over references r of count(g, r)),
  /// for n from 1 to matches.size(); "clipped counts" in Papineni et al. 2002, section 2.1.1.
  void count(std::span<const Symbols> references, const Symbols& hypothesis, std::span<int64_t> matches);

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;
  struct Entry {
    uint64_t key = 0;
    uint64_t pass = 0;   // the last pass over a sentence that touched the entry; an older order's entry is free
    uint32_t id = 0;     // number of this n-gram among those of its order
    uint32_t seen = 0;   // occurrences in the sentence of `pass`
    uint32_t limit = 0;  // the most occurrences in one reference
  };

  void reserve(std::span<const Symbols> references);
  Entry& slot(uint64_t key);
  void add_reference(const Symbols& reference, size_t order, std::vector<uint32_t>& ids);
  int64_t match_hypothesis(const Symbols& hypothesis, size_t order);

  std::vector<Entry> entries_;
  size_t mask_ = 0;
  uint64_t pass_ = 0;
  uint64_t first_pass_of_order_ = 0;
  uint32_t ngrams_of_order_ = 0;
  std::vector<std::vector<uint32_t>> reference_ids_;  // of the n-gram that starts at each position
  std::vector<uint32_t> hypothesis_ids_;
};

}  // namespace dragoman::evaluation
