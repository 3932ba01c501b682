#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dragoman::evaluation {

/// One sentence as numbers: the numbers of its words in a `WordNumbers`, or the code points of its characters.
using Symbols = std::vector<uint32_t>;

/// A numbering of distinct words, from 0 in the order of their first occurrence. Threads: one thread at a time.
class WordNumbers {
 public:
  uint32_t number(std::string_view word);
  Symbols numbers(std::span<const std::string_view> words);

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> numbers_;
};

/// Returns the number of n-grams in a sentence of `length` symbols. Requires: n >= 1.
inline int64_t ngram_count(size_t length, size_t n) {
  return length < n ? 0 : static_cast<int64_t>(length - n + 1);
}

/// A counter of the n-grams that a hypothesis shares with its references. The counts are exact for any length: the key
/// of an n-gram is the number of the n-gram of its first n-1 symbols and its last symbol, and not only a hash. The
/// scratch memory is kept between calls. Threads: one thread at a time.
class NgramMatcher {
 public:
  /// Computes the clipped counts matches[n-1] = sum over n-grams g of order n of min(count(g, hypothesis), max over
  /// references r of count(g, r)), for n from 1 to matches.size(). Source: Papineni et al. 2002, section 2.1.1.
  void count(std::span<const Symbols> references, const Symbols& hypothesis, std::span<int64_t> matches);

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;
  struct Entry {
    uint64_t key = 0;
    uint64_t pass = 0;   // the last pass over a sentence that used the entry; an entry of an older order is free
    uint32_t id = 0;     // number of this n-gram among those of its order
    uint32_t seen = 0;   // occurrences in the sentence of `pass`
    uint32_t limit = 0;  // the largest number of occurrences in one reference
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
