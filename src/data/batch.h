#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dragoman::data {

/// A source sentence and its translation as ids.
struct SentencePair {
  uint64_t line = 0;            ///< where it stands in the corpus, from 0
  std::vector<int32_t> source;  ///< pieces, then eos
  std::vector<int32_t> target;  ///< pieces alone: bos and eos are added by the batch

  int64_t source_tokens() const { return static_cast<int64_t>(source.size()); }
  int64_t target_tokens() const { return static_cast<int64_t>(target.size()) + 1; }
};

/// Some sentence pairs side by side, packed: no pad token anywhere. Sentence b owns the rows
/// [offsets[b], offsets[b + 1]) of its side. B sentences, Ns source rows, Nt target rows.
/// Invariants: offsets start at 0 and rise; target_input and target_output share target_offsets.
struct Batch {
  std::vector<int32_t> source;             ///< [Ns] pieces, eos after each sentence
  std::vector<int32_t> source_offsets{0};  ///< [B + 1]
  std::vector<int32_t> target_input;       ///< [Nt] bos, y1 ... yn of each sentence
  std::vector<int32_t> target_output;      ///< [Nt] y1 ... yn, eos: what row i must predict
  std::vector<int32_t> target_offsets{0};  ///< [B + 1]
  std::vector<uint64_t> lines;             ///< [B] where each pair stands in the corpus

  uint64_t epoch = 0;       ///< counted from 0
  bool ends_epoch = false;  ///< the last batch of its epoch

  /// Where this shard starts in the batch it was cut from (0 for a whole batch): dropout masks are keyed by the row in
  /// the whole batch, so the number of workers does not change them. 64 bits: an update of many batches has more rows
  /// than offsets can count.
  int64_t first_sentence = 0;
  int64_t first_source_row = 0;
  int64_t first_target_row = 0;

  int32_t sentences() const { return static_cast<int32_t>(lines.size()); }
  int32_t source_tokens() const { return source_offsets.back(); }
  int32_t target_tokens() const { return target_offsets.back(); }
  bool empty() const { return lines.empty(); }
};

/// How long a pair is, without its ids: enough to plan batches.
struct PairSize {
  uint64_t position = 0;      ///< where the pair stands among those that are planned together
  int64_t source_tokens = 0;  ///< eos included
  int64_t target_tokens = 0;
};

/// Pairs that become one batch.
using BatchPlan = std::vector<PairSize>;

/// Sorts pairs by length and cuts them into batches of at most `batch_tokens`, counted as the larger of the source and
/// target tokens. The batches are evened out: as few as the budget allows, none much smaller than the others.
/// A pair that exceeds the budget alone is a batch of its own. The order depends on `pairs` alone (ties keep theirs).
std::vector<BatchPlan> plan_batches(std::vector<PairSize> pairs, int64_t batch_tokens);

/// Where a batch is cut into `shards` contiguous parts of about equal tokens (source and target together): shard s is
/// [borders[s], borders[s + 1]), empty when there are fewer pairs than shards. Throws Error(kRuntime) unless shards
/// >= 1.
std::vector<size_t> shard_borders(std::span<const PairSize> pairs, int shards);

/// The shards of one batch that are of use to one process, and the size of the whole.
struct BatchShare {
  std::vector<Batch> shards;  ///< consecutive ones; all of them for a process alone
  int32_t source_tokens = 0;  ///< of the whole batch
  int32_t target_tokens = 0;
};

/// Adds a pair behind the others.
void append(Batch& batch, const SentencePair& pair);

/// Cuts a batch as shard_borders says, one part for each worker. Joined again they are the batch, row for row.
BatchShare split(const Batch& batch, int shards);

/// plan_batches and the batches themselves, from pairs that are encoded.
std::vector<Batch> cut_batches(const std::vector<SentencePair>& pairs, int64_t batch_tokens);

}  // namespace dragoman::data
