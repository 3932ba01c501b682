#pragma once

#include <string>
#include <vector>

#include "data/stored_pairs.h"

namespace dragoman::data {

/// Examples of an encoder that are the same in each epoch: texts with a label, sentences with tags. Memory: the ids.
class InputExamples : public StoredPairs {
 public:
  /// @param pairs  SentencePair::line of each is its index;  @param places  where each comes from, "train.tsv:17"
  /// @param max_length  the longest text, in ids with those around it
  InputExamples(std::vector<SentencePair> pairs, std::vector<std::string> places, int64_t max_length);

  std::string report() const override;
  std::vector<std::pair<std::string, uint64_t>> facts() const override;
};

/// Returns the lengths of examples that cost little to make, with the examples themselves.
Examples::Window window_of_all(const Examples& examples, std::span<const uint32_t> indices, uint64_t epoch);

}  // namespace dragoman::data
