#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "data/examples.h"
#include "data/token_text.h"

namespace dragoman::data {

/// How spans are cut out of a text.
struct CorruptionOptions {
  double share = 0.15;   ///< of the tokens that are cut out
  double mean_span = 3;  ///< tokens of a span, on average
  int64_t length = 256;  ///< tokens of a window of text before it is corrupted
  uint64_t seed = 1;
};

/// A corrupted text: what is left, with a sentinel for each span, and the spans, a sentinel before each.
struct CorruptedText {
  std::vector<int32_t> input, target;
};

/// Cuts n = round(share * L) tokens out of L, at least one and not all, in max(1, round(n / mean_span)) spans. The
/// tokens that go and those that stay are divided at random into as many parts each, none empty, which alternate; a
/// part that stays comes first. There are at most as many spans as sentinels.
/// Requires: at least two tokens and one sentinel. Source: Raffel et al. 2020, sections 3.1.4 and 3.3.4.
[[nodiscard]] CorruptedText corrupt_spans(std::span<const int32_t> tokens, const std::vector<int32_t>& sentinels,
                                          const CorruptionOptions& options, base::Random& random);

/// Corrupted windows of running text: the examples of span corruption. Each document is cut into windows from its
/// beginning; a window of a single token is left out. The spans depend on (seed, epoch, window) alone.
/// Threads: any number; the object is immutable after construction.
class CorruptedWindows : public Examples {
 public:
  /// @param special  of the vocabulary; tokens of `text` with these ids end a document
  /// Throws: Error(kBadData) for a text without a window, Error(kUsage) if there are no sentinels.
  CorruptedWindows(TokenText text, std::vector<int32_t> sentinels, const SpecialIds& special,
                   const CorruptionOptions& options);

  uint64_t size() const override { return windows_.size(); }
  int32_t max_length() const override { return static_cast<int32_t>(options_.length) - 1; }
  const CorpusStatistics& statistics() const override { return statistics_; }
  std::string report() const override;
  std::string place(uint64_t line) const override;
  [[nodiscard]] SentencePair pair(uint64_t index, uint64_t epoch) const override;
  [[nodiscard]] Window window(std::span<const uint32_t> indices, uint64_t epoch) const override;

 private:
  struct Place {
    uint64_t begin, length;
  };
  void cut_windows();

  TokenText text_;
  std::vector<int32_t> sentinels_;
  SpecialIds special_;
  CorruptionOptions options_;
  std::vector<Place> windows_;
  CorpusStatistics statistics_;
};

}  // namespace dragoman::data
