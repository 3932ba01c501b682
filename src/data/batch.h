#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/names.h"
#include "data/vocabulary/vocabulary.h"

namespace dragoman::data {

/// A source sentence and its translation as ids.
struct SentencePair {
  uint64_t line = 0;               ///< index of the pair in the corpus, from 0
  std::vector<int32_t> source;     ///< pieces, then eos
  std::vector<int32_t> target;     ///< pieces without bos and eos, which the batch adds
  int32_t before_target = kBosId;  ///< what stands before the target: in running text the token before a window
  int32_t after_target = kEosId;   ///< what follows it
  int32_t second_begin = 0;        ///< of an encoder: where the second text begins in `source`; 0 = there is one text
  std::vector<int32_t> chosen{};   ///< of an encoder: the row of `source` that each target, the last one included,
                                   ///< is predicted from; empty = one target, from the text as a whole
  std::vector<int32_t> text_begins{};  ///< of a group of pairs of texts: where each text begins in `source`, left and
                                       ///< right of the first pair, then of the next; two for each target, or three
                                       ///< where each pair has a text that is unlike its left one

  int64_t source_tokens() const { return static_cast<int64_t>(source.size()); }
  int64_t target_tokens() const { return static_cast<int64_t>(target.size()) + 1; }
};

/// A ragged batch of B sentence pairs with Ns source rows and Nt target rows, without any pad token. Sentence b owns
/// the rows [offsets[b], offsets[b + 1]) of its side. Invariants: offsets begin with 0 and increase; target_input and
/// target_output share target_offsets.
struct Batch {
  std::vector<int32_t> source;             ///< [Ns] pieces, eos after each sentence
  std::vector<int32_t> source_offsets{0};  ///< [B + 1]
  std::vector<int32_t> target_input;       ///< [Nt] bos, y1 ... yn of each sentence
  std::vector<int32_t> target_output;      ///< [Nt] y1 ... yn, eos: the id that row i must predict
  std::vector<int32_t> target_offsets{0};  ///< [B + 1]
  std::vector<uint64_t> lines;             ///< [B] index of each pair in the corpus
  std::vector<int32_t> second_begins;      ///< [B] SentencePair::second_begin; empty = no pair has a second text
  std::vector<int32_t> chosen;             ///< [Nt] SentencePair::chosen, rows of their own text; or empty
  std::vector<int32_t> text_begins;  ///< [2 Nt] or [3 Nt] SentencePair::text_begins, rows of their group; or empty

  uint64_t epoch = 0;       ///< counted from 0
  bool ends_epoch = false;  ///< the last batch of its epoch

  /// The start of this shard in the whole batch; 0 for a whole batch. Dropout masks are keyed by the row in the whole
  /// batch, so the number of workers does not change them. The numbers have 64 bits because an update of many batches
  /// has more rows than an offset can count.
  int64_t first_sentence = 0;
  int64_t first_source_row = 0;
  int64_t first_target_row = 0;

  int32_t sentences() const { return static_cast<int32_t>(lines.size()); }
  int32_t source_tokens() const { return source_offsets.back(); }
  int32_t target_tokens() const { return target_offsets.back(); }
  /// Returns the number of texts of each pair. Requires: text_begins is not empty.
  int32_t texts_of_pair() const { return static_cast<int32_t>(text_begins.size()) / target_tokens(); }
  bool empty() const { return lines.empty(); }
};

/// The lengths of a pair without its ids, which suffice to plan batches.
struct PairSize {
  uint64_t position = 0;      ///< index of the pair among the pairs that are planned together
  int64_t source_tokens = 0;  ///< eos included
  int64_t target_tokens = 0;
};

/// Which pairs share a batch.
enum class BatchOrder {
  kLength,  ///< pairs of about one length: of several tasks in one text, each update then sees one
  kRandom,  ///< any pairs
};

constexpr base::Names<BatchOrder> names_of(BatchOrder) {
  return {"batch-order", {{BatchOrder::kLength, "length"}, {BatchOrder::kRandom, "random"}}};
}

/// The pairs of one batch.
using BatchPlan = std::vector<PairSize>;

/// Sorts pairs by length, or leaves them as they are, and cuts them into batches of at most `batch_tokens` source
/// tokens and target tokens. The number of batches is the smallest that the budget allows, and no batch is much smaller
/// than the others. A pair that exceeds the budget becomes a batch by itself. The result depends on `pairs` alone; the
/// sort is stable.
[[nodiscard]] std::vector<BatchPlan> plan_batches(std::vector<PairSize> pairs, int64_t batch_tokens,
                                                  BatchOrder order = BatchOrder::kLength);

/// Returns the borders that cut a batch into contiguous shards with about equal numbers of tokens, source and target
/// together. Shard s is [borders[s], borders[s + 1]). Some shards are empty if there are fewer pairs than shards.
/// Throws: Error(kRuntime) unless shards >= 1.
[[nodiscard]] std::vector<size_t> shard_borders(std::span<const PairSize> pairs, int shards);

/// The shards of one batch that one process computes, and the size of the whole batch.
struct BatchShare {
  std::vector<Batch> shards;  ///< consecutive shards; all shards for a single process
  int32_t source_tokens = 0;  ///< of the whole batch
  int32_t target_tokens = 0;
};

/// Returns: whether two batches differ at most in source, target_input, target_output and the elements of chosen.
[[nodiscard]] bool have_one_form(const Batch& left, const Batch& right);

/// Appends a pair to a batch.
void append(Batch& batch, const SentencePair& pair);

/// Cuts a batch at shard_borders into one shard for each worker. The shards, concatenated, equal the batch row by row.
[[nodiscard]] BatchShare split(const Batch& batch, int shards);

/// Returns the batches that plan_batches plans for encoded pairs, by length.
[[nodiscard]] std::vector<Batch> cut_batches(const std::vector<SentencePair>& pairs, int64_t batch_tokens);

}  // namespace dragoman::data
