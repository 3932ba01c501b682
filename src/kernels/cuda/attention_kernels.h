#pragma once

#include <cstdint>

#include "kernels/cuda/views.h"

namespace dragoman::kernels::cuda {

/// Rows of one sentence that a block has: `first` counts rows of the sentence.
struct SentenceTile {
  int32_t sentence;
  int32_t first;
};
inline constexpr int kAttentionTile = 32;  ///< rows of a tile
/// Rows of a tile of a sentence that has more, where takes_long_tiles: a block then reads the other side's rows once
/// for four times as many own rows. The order of sums stays, so results are the same bits.
inline constexpr int kLongTile = 128;
inline constexpr int kWidestHead = 128;  ///< columns of a head at most

/// Attention over ragged rows, of float32 or bfloat16.
struct Attention {
  AnyMatrix query, key, value;
  const int32_t* query_offsets;
  const int32_t* key_offsets;
  const bool* key_mask;  ///< null = all
  int heads;             ///< H, of query
  int group;             ///< heads of query that share a head of key and value
  int d_head, d_value;
  bool causal;
  int window;         ///< a query sees so many keys up to its own at most; 0 = all
  float scale;        ///< of the products
  const float* bias;  ///< [H, 2*R]: element [h][R + query - key] is added to a scaled product; null = none
  int reach;          ///< R
  Mask mask;          ///< of element (query row * H + head, key of the sentence)
  int64_t n_queries;
  float* largest;      ///< [H, Nq]: the largest score of each row
  float* inverse_sum;  ///< [H, Nq]: 1 / sum of exponentials; 0 for a row with nothing to attend to
};

struct Tiles {
  const SentenceTile* data;
  int64_t count;
};
/// The rows of all sentences, cut into tiles of kAttentionTile and of kLongTile rows.
struct TilesOfRows {
  Tiles usual, longer;
};

/// @param tiles  of query rows; longer ones only if takes_long_tiles
void attention_forward(const Attention& attention, const TilesOfRows& tiles, const AnyMatrix& context);
/// Does the same by tensor cores. Returns: false, and does nothing, unless all matrices are bfloat16, heads of query,
/// key and value have the same multiple of 8 columns, and rows begin at multiples of 16 bytes.
[[nodiscard]] bool attention_forward_by_fragments(const Attention& attention, const TilesOfRows& tiles,
                                                  const AnyMatrix& context);
/// Returns: whether attention_forward takes long tiles: the conditions of tensor cores.
[[nodiscard]] bool takes_long_tiles(const Attention& attention, const AnyMatrix& context);

/// Gradients of query, key and value, and of the bias.
struct AttentionGrads {
  AnyMatrix context;  ///< of the forward
  AnyMatrix grad_context, query, key, value;
  float* mean;        ///< [H, Nq] scratch: sum over the keys of weight * its gradient
  float* bias;        ///< [H, 2*R]; null without a bias
  float* bias_parts;  ///< [query tiles, H, P] scratch
  int64_t part;       ///< P, bias_part(R)
};
/// Returns: sums of diagonals that a tile of query rows has at most, of one head. Number i is of the keys that lie
/// kAttentionTile - 1 - i rows before the first query.
constexpr int64_t bias_part(int64_t reach) {
  return reach + 2 * kAttentionTile;
}
/// @param query_tiles, key_tiles  of query rows and of key rows; longer ones only if takes_long_tiles
void attention_backward(const Attention& attention, const TilesOfRows& query_tiles, const TilesOfRows& key_tiles,
                        const AttentionGrads& grads);
/// Does the same by tensor cores. Returns: as attention_forward_by_fragments.
[[nodiscard]] bool attention_backward_by_fragments(const Attention& attention, const TilesOfRows& query_tiles,
                                                   const TilesOfRows& key_tiles, const AttentionGrads& grads);
/// Returns: whether attention_backward takes long tiles: the conditions of tensor cores, and no bias.
[[nodiscard]] bool takes_long_tiles(const Attention& attention, const AttentionGrads& grads);

/// Sentences of at most kShortSentence queries and keys, then sentences of at most twice as many. `first` is not used.
struct ShortSentences {
  const SentenceTile* data;
  int64_t shorter, longer;
};
inline constexpr int kShortSentence = 32;
/// Returns: whether attention_backward_of_short takes it: bfloat16, as for tensor cores, heads of at most 64 columns,
/// not grouped, no bias.
[[nodiscard]] bool fits_short_attention(const Attention& attention, const AttentionGrads& grads);
/// Does attention_backward for short sentences, in one kernel, without grads.mean.
void attention_backward_of_short(const Attention& attention, const ShortSentences& sentences,
                                 const AttentionGrads& grads);

/// Writes weights [H, T, S] of one sentence.
void attention_weights(const Attention& attention, int64_t n_keys, float* weights);

/// The keys of one row of a decoding step; see kernels::StepKeys.
struct StepRow {
  const void* keys;
  const void* values;
  int64_t stride;
  int32_t length;
  int32_t table;  ///< where the row's numbers begin in the index tables; -1 = consecutive rows
};

/// One decoding step of attention. Rows are StepRows, or they are rows of one cache: the keys and values of row r are
/// in cache rows tables[begins[r]] .. tables[begins[r] + lengths[r] - 1].
struct AttentionStep {
  Matrix<float> query;
  AnyMatrix context;
  const StepRow* rows;  ///< null for rows of one cache
  const void* keys;     ///< of the cache, as all up to `begins`
  const void* values;
  int64_t stride;
  const int32_t* lengths;
  const int32_t* begins;
  const int32_t* tables;
  int64_t count;
  int heads, key_heads, d_head, d_value;
  bool cached_bfloat16;
  const float* bias_end;  ///< key t of n adds bias_end[h * bias_stride + t - n] to the scaled product; null = no bias
  int64_t bias_stride;
  float* stats;                ///< [2, R, H], scratch for mean weights
  Matrix<float> mean_weights;  ///< [R, L]; null if not requested
  int64_t longest;             ///< L
};
void attention_step(const AttentionStep& step);

/// Copies keys and values to rows of a cache: a key, then a value.
struct CacheRows {
  Matrix<float> keys, values;
  const int32_t* rows;  ///< the cache row of each; < 0 for a row that is not kept
  int64_t count, columns;
  AnyMatrix cache;
};
void store_cached_rows(const CacheRows& rows);

}  // namespace dragoman::kernels::cuda
