#include "evaluation/ngrams.h"

#include <algorithm>
#include <bit>

namespace dragoman::evaluation {
namespace {

uint64_t ngram_key(uint32_t prefix, uint32_t last) {
  return uint64_t{prefix} << 32 | last;
}

// Multiplicative hashing (Knuth, TAOCP 3, section 6.4); the upper half of the product is the well-mixed one.
size_t hash_key(uint64_t key) {
  return static_cast<size_t>((key * 0x9E3779B97F4A7C15ULL) >> 32);
}

}  // namespace

uint32_t WordNumbers::number(std::string_view word) {
  if (const auto found = numbers_.find(word); found != numbers_.end()) {
    return found->second;
  }
  const auto next = static_cast<uint32_t>(numbers_.size());
  numbers_.emplace(word, next);
  return next;
}

Symbols WordNumbers::numbers(std::span<const std::string_view> words) {
  Symbols symbols;
  symbols.reserve(words.size());
  for (const std::string_view word : words) {
    symbols.push_back(number(word));
  }
  return symbols;
}

void NgramMatcher::count(std::span<const Symbols> references, const Symbols& hypothesis, std::span<int64_t> matches) {
  reserve(references);
  std::fill(matches.begin(), matches.end(), 0);
  for (size_t order = 1; order <= matches.size(); ++order) {
    first_pass_of_order_ = pass_ + 1;
    ngrams_of_order_ = 0;
    for (size_t r = 0; r < references.size(); ++r) {
      ++pass_;
      add_reference(references[r], order, reference_ids_[r]);
    }
    ++pass_;
    matches[order - 1] = match_hypothesis(hypothesis, order);
    if (matches[order - 1] == 0) {
      break;  // a longer n-gram that matched would hold a shorter one that matched
    }
  }
  hypothesis_ids_.clear();
}

void NgramMatcher::reserve(std::span<const Symbols> references) {
  size_t total = 0;
  reference_ids_.resize(std::max(reference_ids_.size(), references.size()));
  for (size_t r = 0; r < references.size(); ++r) {
    total += references[r].size();
    reference_ids_[r].assign(references[r].size(), 0);
  }
  const size_t slots = std::bit_ceil(std::max<size_t>(16, total * 2));
  if (entries_.size() < slots) {
    entries_.resize(slots);
  }
  mask_ = slots - 1;
}

// The entry of `key`, or the free one where it belongs. At most half the entries are ever in use.
NgramMatcher::Entry& NgramMatcher::slot(uint64_t key) {
  size_t at = hash_key(key) & mask_;
  while (entries_[at].pass >= first_pass_of_order_ && entries_[at].key != key) {
    at = (at + 1) & mask_;
  }
  return entries_[at];
}

void NgramMatcher::add_reference(const Symbols& reference, size_t order, std::vector<uint32_t>& ids) {
  for (size_t start = 0; start + order <= reference.size(); ++start) {
    const uint64_t key = ngram_key(ids[start], reference[start + order - 1]);
    Entry& entry = slot(key);
    if (entry.pass < first_pass_of_order_) {
      entry = {.key = key, .pass = pass_, .id = ngrams_of_order_++, .seen = 0, .limit = 0};
    } else if (entry.pass != pass_) {
      entry.pass = pass_;
      entry.seen = 0;
    }
    entry.limit = std::max(entry.limit, ++entry.seen);
    ids[start] = entry.id;
  }
}

int64_t NgramMatcher::match_hypothesis(const Symbols& hypothesis, size_t order) {
  if (order == 1) {
    hypothesis_ids_.assign(hypothesis.size(), 0);
  }
  int64_t matches = 0;
  for (size_t start = 0; start + order <= hypothesis.size(); ++start) {
    if (hypothesis_ids_[start] == kUnknown) {
      continue;
    }
    Entry& entry = slot(ngram_key(hypothesis_ids_[start], hypothesis[start + order - 1]));
    if (entry.pass < first_pass_of_order_) {
      hypothesis_ids_[start] = kUnknown;
      continue;
    }
    if (entry.pass != pass_) {
      entry.pass = pass_;
      entry.seen = 0;
    }
    hypothesis_ids_[start] = entry.id;
    matches += ++entry.seen <= entry.limit ? 1 : 0;
  }
  return matches;
}

}  // namespace dragoman::evaluation
