#pragma once

#include <cstdint>
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

/// Adds a pair behind the others.
void append(Batch& batch, const SentencePair& pair);

/// Cuts a batch into `shards` contiguous parts of about equal tokens (source and target together), one for each worker.
/// Joined again they are the batch, row for row. A part is empty when there are fewer sentences than shards.
/// Throws Error(kRuntime) unless shards >= 1.
std::vector<Batch> split(const Batch& batch, int shards);

/// Sorts pairs by length and cuts them into batches of at most `batch_tokens`, counted as the larger of the source and
/// target tokens. The batches are evened out: as few as the budget allows, none much smaller than the others.
/// A pair that exceeds the budget alone is a batch of its own. The order depends on `pairs` alone (ties keep theirs).
std::vector<Batch> cut_batches(std::vector<SentencePair> pairs, int64_t batch_tokens);

}  // namespace dragoman::data
