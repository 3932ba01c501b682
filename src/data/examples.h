#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/batch.h"
#include "data/text/corpus.h"

namespace dragoman::data {

/// The training examples of a task as ids, by index 0 ... size() - 1: what data::Batcher makes batches of.
/// Threads: any number.
class Examples {
 public:
  virtual ~Examples() = default;

  virtual uint64_t size() const = 0;
  /// Returns: the longest side of an example in ids, without bos and eos.
  virtual int32_t max_length() const = 0;
  /// Returns: what was kept and dropped of the text. `target_tokens` is the length of an epoch.
  virtual const CorpusStatistics& statistics() const = 0;
  /// Returns: the same in words for a person, lines without a final LF.
  virtual std::string report() const { return statistics().report(); }
  /// Returns: the same as a table: {"pairs read", 29000}.
  virtual std::vector<std::pair<std::string, uint64_t>> facts() const;
  /// Returns: where an example comes from, for messages: "train.en:17".
  virtual std::string place(uint64_t line) const = 0;

  /// Returns one example. It depends on (index, epoch) alone.
  [[nodiscard]] virtual SentencePair pair(uint64_t index, uint64_t epoch) const = 0;

  /// The lengths of some examples in a given order, and those examples that were encoded to measure them.
  struct Window {
    std::vector<PairSize> sizes;      ///< [count], position i belongs to the i-th index
    uint64_t first_encoded = 0;       ///< position of the first example in `pairs`
    std::vector<SentencePair> pairs;  ///< examples that this process has encoded; may be empty
  };
  /// Returns the lengths of the examples with these indices.
  /// Requires: all processes make the same calls in the same order.
  [[nodiscard]] virtual Window window(std::span<const uint32_t> indices, uint64_t epoch) const = 0;
};

}  // namespace dragoman::data
