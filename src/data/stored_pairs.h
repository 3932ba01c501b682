#pragma once

#include <string>
#include <vector>

#include "data/examples.h"

namespace dragoman::data {

/// Examples that are the same in each epoch, as ids in memory.
/// Threads: any number; the object is immutable after construction.
class StoredPairs : public Examples {
 public:
  uint64_t size() const override { return pairs_.size(); }
  int32_t max_length() const override { return max_length_; }
  const CorpusStatistics& statistics() const override { return statistics_; }
  std::string place(uint64_t line) const override { return places_[line]; }
  [[nodiscard]] SentencePair pair(uint64_t index, uint64_t /*epoch*/) const override { return pairs_[index]; }
  [[nodiscard]] Window window(std::span<const uint32_t> indices, uint64_t epoch) const override;
  /// Returns: all pairs.
  const std::vector<SentencePair>& pairs() const { return pairs_; }

 protected:
  /// @param max_length  of a side in ids, with what ends it
  explicit StoredPairs(int64_t max_length) : max_length_(static_cast<int32_t>(max_length) - 1) {}
  /// Adds an example, and its tokens to the statistics. Requires: SentencePair::line is the number of pairs so far.
  void add(SentencePair pair, std::string place);

  CorpusStatistics statistics_;

 private:
  std::vector<SentencePair> pairs_;
  std::vector<std::string> places_;
  int32_t max_length_;
};

}  // namespace dragoman::data
