#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "data/batch.h"

namespace dragoman::training {

/// How a batch is spread: over so many workers, in sentences of at most so many tokens on a side.
struct BatchSpread {
  int64_t workers = 1;
  int64_t max_length = 256;
};

/// Tokens of a side in the largest shard that one worker can get of a batch of `batch_tokens`. data::split cuts between
/// sentences, so it is up to one sentence more than the worker's share.
int64_t worker_tokens(int64_t batch_tokens, const BatchSpread& spread);

/// The largest batch whose every shard has at most `tokens` on a side (inverse of worker_tokens); 0 when a sentence of
/// max_length has more.
int64_t batch_for(int64_t tokens, const BatchSpread& spread);

/// The most bytes that a worker's forward and backward over `tokens` source and as many target tokens hold at once.
using MeasurePass = std::function<uint64_t(int64_t tokens)>;

/// A straight line through measured passes.
struct PassMemory {
  double fixed = 0.0;      ///< bytes whatever the batch: logits of the loss, scratch
  double per_token = 0.0;  ///< bytes for each token of a side of the worker's shard
  uint64_t at(int64_t tokens) const { return static_cast<uint64_t>(fixed + per_token * static_cast<double>(tokens)); }
};

/// What fit_batch found.
struct FittedBatch {
  int64_t batch_tokens = 0;  ///< largest that fits, `wanted` at most; 0: not even one sentence of max_length does
  uint64_t pass_bytes = 0;   ///< measured at that batch; of one sentence when that does not fit
  PassMemory line;
};

/// Finds the largest batch up to `wanted` tokens whose passes stay within `room` bytes a worker: measures half a
/// sentence and one, then more along a straight line, and in the end the batch itself. Fills at least nine tenths of
/// the room unless `wanted` needs less.
FittedBatch fit_batch(const MeasurePass& measure, const BatchSpread& spread, int64_t wanted, uint64_t room);

/// Returns: ids of words of a vocabulary; none for a vocabulary of 0, of a side that the model does not read.
std::vector<int32_t> batch_words(int64_t count, int64_t vocab_size);

/// A batch of the worst shape: sentences of `max_length` tokens on both sides, as many as make up `tokens`; the last
/// may be shorter. Ids are words of the vocabularies.
data::Batch longest_batch(int64_t tokens, int64_t max_length, int64_t source_vocab_size, int64_t target_vocab_size);

}  // namespace dragoman::training
