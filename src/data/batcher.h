#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "data/batch.h"
#include "data/encoded_corpus.h"

namespace dragoman::data {

/// How pairs become batches.
struct BatcherOptions {
  /// Largest batch: neither its source nor its target tokens (bos, eos included) exceed this. At least max_length + 1.
  int64_t batch_tokens = 4096;

  /// Pairs that are sorted by length together, drawn at random; larger sorts better, smaller mixes better. At least 1.
  uint64_t window_sentences = 8192;

  /// Every batch is cut into `shards`, one for each replica, of which this process wants the ones from `first_shard`
  /// on.
  int shards = 1;
  int first_shard = 0;
  int own_shards = 1;

  uint64_t seed = 1;     ///< of the order of pairs and batches
  bool prefetch = true;  ///< make the next window in a background thread; does not change the result
};

/// Endless batches over a corpus: each epoch visits every kept pair once. In each epoch the pairs are permuted by
/// (seed, epoch), taken in windows, sorted by length within a window, cut by the token budget, and the batches of the
/// window shuffled. Everything follows from (options, position), so a batcher restored from a state yields exactly the
/// batches that would have come. Of several processes all plan the same batches, from the lengths of the pairs, and
/// each encodes its own shards of them alone. Memory: 4 bytes a pair for the order (twice around the turn of an epoch),
/// this process's shards of two windows. Not safe for use from two threads at once.
class Batcher {
 public:
  /// @param corpus  must outlive the batcher. Throws Error(kUsage) for options out of range:
  /// "batcher: batch tokens is 64, but sentences may have 256 tokens and eos; raise it to 257 or lower max length".
  Batcher(const EncodedCorpus& corpus, const BatcherOptions& options);

  /// This process's shards of the next batch. Errors of the background thread come out here.
  BatchShare next();

  uint64_t epoch() const { return position_.epoch; }  ///< of the next batch

  /// Where the next batch stands, for a checkpoint; small.
  ///   {"epoch": 2, "sentence": 8192, "batch": 17, "seed": 1, "batch_tokens": 4096, "window_sentences": 8192,
  ///   "sentences": 29000}
  nlohmann::json state() const;

  /// Goes to a position saved by `state` of a batcher with the same options over the same corpus.
  /// Throws Error(kBadData): a field is missing or out of range; Error(kUsage): made with other options:
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

  static Window make_window(const EncodedCorpus& corpus, const BatcherOptions& options, Position start, Order order);
  void enter_window();

  const EncodedCorpus* corpus_;
  BatcherOptions options_;
  Position position_;
  Window window_;                 // holds position_ unless it has no batches
  std::future<Window> upcoming_;  // the window after window_, when prefetching
};

}  // namespace dragoman::data
