#pragma once

#include <string>
#include <vector>

#include "data/examples.h"

namespace dragoman::data {

/// Examples of an encoder that are the same in each epoch: texts with a label, sentences with tags. Memory: the ids.
class InputExamples : public Examples {
 public:
  /// @param pairs  SentencePair::line of each is its index;  @param places  where each comes from, "train.tsv:17"
  /// @param max_length  the longest text, in ids with those around it
  InputExamples(std::vector<SentencePair> pairs, std::vector<std::string> places, int64_t max_length);

  uint64_t size() const override { return pairs_.size(); }
  int32_t max_length() const override { return max_length_; }
  const CorpusStatistics& statistics() const override { return statistics_; }
  std::string report() const override;
  std::vector<std::pair<std::string, uint64_t>> facts() const override;
  std::string place(uint64_t line) const override { return places_[line]; }
  [[nodiscard]] SentencePair pair(uint64_t index, uint64_t /*epoch*/) const override { return pairs_[index]; }
  [[nodiscard]] Window window(std::span<const uint32_t> indices, uint64_t epoch) const override;

  const std::vector<SentencePair>& pairs() const { return pairs_; }

 private:
  std::vector<SentencePair> pairs_;
  std::vector<std::string> places_;
  int32_t max_length_;
  CorpusStatistics statistics_;
};

/// Returns the lengths of examples that cost little to make, with the examples themselves.
Examples::Window window_of_all(const Examples& examples, std::span<const uint32_t> indices, uint64_t epoch);

}  // namespace dragoman::data
