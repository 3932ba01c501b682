#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/examples.h"
#include "data/token_text.h"

namespace dragoman::data {

/// How running text is cut into examples.
struct WindowOptions {
  int64_t length = 256;  ///< T: tokens that a window reads; it predicts as many, each the one after
  bool across_documents = true;
  uint64_t seed = 1;  ///< of the shift of each epoch
};

/// Windows of running text: the examples of a language model. A window is the tokens t .. t+T-1, from which those at
/// t+1 .. t+T are predicted.
/// Across documents an epoch reads the whole text once, in windows of equal length that begin at a place drawn for the
/// epoch, so that borders fall elsewhere in each; less than two windows of text at its ends are left out of an epoch.
/// Within documents each document is cut from its beginning, and the last window of each is shorter.
/// Threads: any number; the object is immutable after construction.
class TextWindows : public Examples {
 public:
  /// Throws: Error(kBadData) for a text of fewer than two tokens: "text: 1 token, at least 2 are needed".
  TextWindows(TokenText text, const WindowOptions& options);

  uint64_t size() const override { return across() ? count_ : windows_.size(); }
  int32_t max_length() const override { return static_cast<int32_t>(options_.length) - 1; }
  const CorpusStatistics& statistics() const override { return statistics_; }
  std::string report() const override;
  std::vector<std::pair<std::string, uint64_t>> facts() const override;
  std::string place(uint64_t line) const override;
  [[nodiscard]] SentencePair pair(uint64_t index, uint64_t epoch) const override;
  [[nodiscard]] Window window(std::span<const uint32_t> indices, uint64_t epoch) const override;

  const TokenText& text() const { return text_; }

 private:
  struct Place {
    uint64_t begin;   // of the tokens that are read
    uint64_t length;  // how many
  };
  bool across() const { return options_.across_documents; }
  uint64_t shift(uint64_t epoch) const;
  Place place_of(uint64_t index, uint64_t epoch) const;
  void cut_documents();

  TokenText text_;
  WindowOptions options_;
  uint64_t length_ = 0;         // T, or less for a short text
  uint64_t count_ = 0;          // of the windows of an epoch across documents
  std::vector<Place> windows_;  // within documents
  CorpusStatistics statistics_;
};

/// Returns a whole text as batches for validation, in windows of T tokens from its beginning; each token but the first
/// is predicted once.
[[nodiscard]] std::vector<Batch> all_windows(const TokenText& text, const WindowOptions& options, int64_t batch_tokens);

}  // namespace dragoman::data
