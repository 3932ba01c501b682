#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "data/batch.h"
#include "data/examples.h"

namespace dragoman::data {

/// How pairs become batches.
struct BatcherOptions {
  /// Largest number of source tokens and of target tokens in a batch, with bos and eos. At least max_length + 1.
  int64_t batch_tokens = 4096;

  BatchOrder order = BatchOrder::kLength;

  /// Number of random pairs that are cut into batches together. Of those sorted by length, a larger window sorts
  /// better, a smaller one mixes better. At least 1.
  uint64_t window_sentences = 8192;

  /// Every batch is cut into `shards`, one for each replica. This process takes `own_shards` of them from
  /// `first_shard`.
  int shards = 1;
  int first_shard = 0;
  int own_shards = 1;

  uint64_t seed = 1;     ///< for the order of pairs and batches
  bool prefetch = true;  ///< prefetch the next window in a background thread; does not change the result
};

/// An endless sequence of batches over examples. Each epoch visits every example once. The pairs of an epoch are
/// permuted by (seed, epoch) and taken in windows. A window is sorted by length, if `order` says so, and cut by the
/// token budget, and its batches are shuffled. The sequence follows from (options, position), so a restored batcher
/// continues with exactly the same batches. All processes plan the same batches from the lengths of the pairs, and each
/// one encodes only its own shards. Memory: 4 bytes a pair for the order, 8 bytes at the end of an epoch, and the own
/// shards of two windows. Threads: one thread at a time.
class Batcher {
 public:
  /// Requires: `examples` outlives the batcher.
  /// Throws: Error(kUsage) for options out of range,
  /// "batcher: --batch-tokens is 64, but sentences may have 256 tokens and eos; raise it to 257 or lower
  /// --max-length".
  Batcher(const Examples& examples, const BatcherOptions& options);

  /// Returns the shards of the next batch for this process. Throws: the errors of the background thread.
  BatchShare next();

  uint64_t epoch() const { return position_.epoch; }  ///< epoch of the next batch

  /// Returns the position of the next batch, for a checkpoint:
  ///   {"epoch": 2, "sentence": 8192, "batch": 17, "seed": 1, "batch_tokens": 4096, "window_sentences": 8192,
  ///   "sentences": 29000}
  [[nodiscard]] nlohmann::json state() const;

  /// Moves to a position from `state` of a batcher with the same options over the same corpus.
  /// Throws: Error(kBadData) if a field is missing or out of range; Error(kUsage) for a state with other options,
  /// "batcher: the saved run had batch_tokens 4096, this one has 8192; resume with the same options".
  void restore(const nlohmann::json& state);

 private:
  using Order = std::shared_ptr<const std::vector<uint32_t>>;  // the permutation of one epoch

  struct Position {
    uint64_t epoch = 0;
    uint64_t sentence = 0;  // where the window starts in the permutation
    uint64_t batch = 0;     // within the window
  };

  struct Window {
    Position start;  // batch = 0
    Position end;    // the start of the window after this
    Order order;
    std::vector<BatchShare> batches;
  };

  static Window make_window(const Examples& examples, const BatcherOptions& options, Position start, Order order);
  void enter_window();

  const Examples* examples_;
  BatcherOptions options_;
  Position position_;
  Window window_;                 // holds position_ unless it has no batches
  std::future<Window> upcoming_;  // the window after window_, when prefetching
};

}  // namespace dragoman::data
