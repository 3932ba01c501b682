// Attention over ragged rows by tensor cores.
#include "kernels/cuda/attention_weights-inl.h"

namespace dragoman::kernels::cuda {
namespace {

// What a lane of a forward keeps of its two rows.
struct TwoRows {
  float largest[2] = {-INFINITY, -INFINITY}, total[2] = {};

  // Takes the scores of 32 more keys; they become weights relative to the largest score so far.
  template <int kColumns>
  __device__ __forceinline__ void take(TileSums& scores, RowSums<kColumns>& sums) {
    DRAGOMAN_UNROLL
    for (int half = 0; half < 2; ++half) {
      float most = -INFINITY, sum = 0;
      DRAGOMAN_UNROLL
      for (const Sums& eight : scores.eights) {
        most = fmaxf(most, fmaxf(eight.v[2 * half], eight.v[2 * half + 1]));
      }
      const float now = fmaxf(largest[half], largest_of_quad(most));
      const float shift = now == -INFINITY ? 0.0F : now;  // a row that sees nothing yet
      const float rescale = fast_exp(largest[half] - shift);
      DRAGOMAN_UNROLL
      for (Sums& eight : scores.eights) {
        eight.v[2 * half] = fast_exp(eight.v[2 * half] - shift);
        eight.v[2 * half + 1] = fast_exp(eight.v[2 * half + 1] - shift);
        sum += eight.v[2 * half] + eight.v[2 * half + 1];
      }
      largest[half] = now;
      total[half] = total[half] * rescale + over_quad(sum);
      DRAGOMAN_UNROLL
      for (Sums& eight : sums.eights) {
        eight.v[2 * half] *= rescale;
        eight.v[2 * half + 1] *= rescale;
      }
    }
  }
};

// Two buffers of tiles of two matrices of the other side.
template <int kColumns>
struct TileBuffers {
  BFloat16* memory;  // kElements
  static constexpr int kElements = 4 * SharedRows<kColumns>::kElements;
  __device__ __forceinline__ SharedRows<kColumns> first(int buffer) const {
    return {memory + 2 * buffer * SharedRows<kColumns>::kElements};
  }
  __device__ __forceinline__ SharedRows<kColumns> second(int buffer) const {
    return {memory + (2 * buffer + 1) * SharedRows<kColumns>::kElements};
  }
};

// What a warp knows of its queries.
template <int kColumns>
struct OwnQueries {
  const Attention& a;
  const Place& place;
  int own;
  Sight sights[2];
  uint32_t* words;  // of the dropout mask, in shared memory

  __device__ __forceinline__ OwnQueries(const Attention& attention, const Place& of, int first, uint32_t* memory)
      : a(attention),
        place(of),
        own(first),
        sights{sight_of_query(a, place, own + lane_row()), sight_of_query(a, place, own + lane_row() + kGroup)},
        words(memory) {}
  __device__ __forceinline__ bool sees(int i, int key) const {
    return sights[i / 2].has(key) && (a.key_mask == nullptr || a.key_mask[place.first_key + key]);
  }
  // Whether all own queries see keys first .. first + 32, and scores have no bias. The same in all lanes.
  __device__ __forceinline__ bool sees_all(int first) const {
    return a.key_mask == nullptr && a.bias == nullptr && a.window == 0 && first + kTile <= place.keys &&
           (!a.causal || first + kTile - 1 <= own);
  }
  // Whether none of the own queries sees one of keys first .. first + 32. The same in all lanes.
  __device__ __forceinline__ bool sees_none(int first) const {
    const bool behind = a.causal && own < place.keys && first > own + kFragmentRows - 1;
    return own >= place.queries || behind || (a.window > 0 && first + kTile <= own + 1 - a.window);
  }
  __device__ __forceinline__ void drop(int first_key, TileSums& tile) const {
    if (a.mask.threshold != 0) {
      TileSums factors;
      factors_of_queries(a, place, own, first_key, words, factors);
      multiply_parts(tile, factors);
    }
  }
  __device__ __forceinline__ HeadRows<BFloat16> of_queries(const AnyMatrix& matrix) const {
    return head_rows<BFloat16>(matrix, place.first_query, place.queries, place.head, a.d_head);
  }
  __device__ __forceinline__ HeadRows<BFloat16> of_keys(const AnyMatrix& matrix) const {
    return head_rows<BFloat16>(matrix, place.first_key, place.keys, place.key_head, a.d_head);
  }
};

// A block has 16 queries for each warp.
template <int kColumns, int kWarpsOfBlock>
__global__ void __launch_bounds__(kWarpsOfBlock* kWarp, (kColumns > 64 ? 8 : 16) / kWarpsOfBlock)
    forward_fragments(Attention a, const SentenceTile* tiles, AnyMatrix context) {
  alignas(16) __shared__ BFloat16 memory[TileBuffers<kColumns>::kElements];
  __shared__ uint32_t mask_words_of[kWarpsOfBlock][kMaskWords];
  const TileBuffers<kColumns> buffers{memory};
  const SentenceTile tile = tiles[blockIdx.x];
  const Place place(a, tile.sentence, static_cast<int>(blockIdx.y));
  const int own = tile.first + warp_number() * kFragmentRows;
  const OwnQueries<kColumns> mine(a, place, own, mask_words_of[warp_number()]);
  const HeadRows<BFloat16> all_keys = mine.of_keys(a.key), all_values = mine.of_keys(a.value);
  OwnRows<kColumns> queries;
  queries.read(mine.of_queries(a.query), own);
  TwoRows rows;
  RowSums<kColumns> sums;
  const auto read = [&](int first, int buffer) {
    buffers.first(buffer).read(all_keys, first);
    buffers.second(buffer).read(all_values, first);
  };
  for_each_tile(keys_of(a, place, tile, kWarpsOfBlock * kFragmentRows), read, [&](int first, int buffer) {
    if (kWarpsOfBlock == kLongWarps && mine.sees_none(first)) {
      return;
    }
    TileSums scores;
    queries.multiply(buffers.first(buffer), scores);
    if (kColumns <= 64 && mine.sees_all(first)) {
      for_each_part(own, first, [&](int eight, int i, int, int) { scores.eights[eight].v[i] *= a.scale; });
    } else {
      for_each_part(own, first, [&](int eight, int i, int query, int key) {
        float& score = scores.eights[eight].v[i];
        score = mine.sees(i, key) ? place.score(a, query, key, score) : -INFINITY;
      });
    }
    rows.take(scores, sums);
    mine.drop(first, scores);
    sums.add(scores, buffers.second(buffer));
  });
  float inverse[2];
  DRAGOMAN_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int query = own + lane_row() + half * kGroup;
    inverse[half] = rows.total[half] > 0 ? 1.0F / rows.total[half] : 0.0F;
    if (query < place.queries && lane_pair() == 0) {
      a.largest[place.stat(a, query)] = inverse[half] > 0 ? rows.largest[half] : 0.0F;
      a.inverse_sum[place.stat(a, query)] = inverse[half];
    }
  }
  sums.write(mine.of_queries(context), own, inverse[0], inverse[1]);
}

// The means of the gradients of the weights of own queries, which are written, too.
template <int kColumns>
__device__ __forceinline__ void find_means(const OwnQueries<kColumns>& mine, const OwnRows<kColumns>& context_grads,
                                           const AttentionGrads& grads, float (&mean)[2]) {
  OwnRows<kColumns> context;
  context.read(mine.of_queries(grads.context), mine.own);
  context_grads.dot(context, mean);
  DRAGOMAN_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int query = mine.own + lane_row() + half * kGroup;
    if (query < mine.place.queries && lane_pair() == 0) {
      grads.mean[mine.place.stat(mine.a, query)] = mean[half];
    }
  }
}

// Own rows are queries: the gradient of the query.
template <int kColumns, int kWarpsOfBlock>
__global__ void __launch_bounds__(kWarpsOfBlock* kWarp)
    backward_query_fragments(Attention a, const SentenceTile* tiles, AttentionGrads grads) {
  alignas(16) __shared__ BFloat16 memory[TileBuffers<kColumns>::kElements];
  __shared__ uint32_t mask_words_of[kWarpsOfBlock][kMaskWords];
  DRAGOMAN_DYNAMIC_SHARED(float, score_grads);  // if there is a bias
  const TileBuffers<kColumns> buffers{memory};
  const SentenceTile tile = tiles[blockIdx.x];
  const Place place(a, tile.sentence, static_cast<int>(blockIdx.y));
  const int own = tile.first + warp_number() * kFragmentRows;
  const OwnQueries<kColumns> mine(a, place, own, mask_words_of[warp_number()]);
  const HeadRows<BFloat16> all_keys = mine.of_keys(a.key), all_values = mine.of_keys(a.value);
  OwnRows<kColumns> queries, context_grads;
  queries.read(mine.of_queries(a.query), own);
  context_grads.read(mine.of_queries(grads.grad_context), own);
  const QueryFacts facts[2] = {QueryFacts(a, place, own + lane_row()), QueryFacts(a, place, own + lane_row() + kGroup)};
  float mean[2];
  find_means(mine, context_grads, grads, mean);
  const Diagonals diagonals = diagonals_of(a, grads, score_grads);
  if (a.bias != nullptr) {
    diagonals.clear();
  }
  RowSums<kColumns> sums;
  const auto read = [&](int first, int buffer) {
    buffers.first(buffer).read(all_keys, first);
    buffers.second(buffer).read(all_values, first);
  };
  for_each_tile(keys_of(a, place, tile, kWarpsOfBlock * kFragmentRows), read, [&](int first, int buffer) {
    if (kWarpsOfBlock == kLongWarps && mine.sees_none(first)) {  // there is no bias, so no sums of all warps
      return;
    }
    TileSums weights, weight_grads;
    queries.multiply(buffers.first(buffer), weights);
    context_grads.multiply(buffers.second(buffer), weight_grads);
    mine.drop(first, weight_grads);
    if (kColumns <= 64 && mine.sees_all(first)) {
      for_each_part(own, first, [&](int eight, int i, int, int) {
        float& weight = weights.eights[eight].v[i];
        weight = facts[i / 2].weight(weight * a.scale) * (weight_grads.eights[eight].v[i] - mean[i / 2]);
      });
    } else {
      for_each_part(own, first, [&](int eight, int i, int query, int key) {
        float& weight = weights.eights[eight].v[i];
        weight = mine.sees(i, key) ? facts[i / 2].weight(place.score(a, query, key, weight)) : 0.0F;
        weight *= weight_grads.eights[eight].v[i] - mean[i / 2];
      });
    }
    sums.add(weights, buffers.first(buffer));
    if (a.bias != nullptr) {
      for_each_part(own - tile.first, 0, [&](int eight, int i, int query, int key) {
        score_grads[query * kTile + key] = weights.eights[eight].v[i];
      });
      diagonals.add(first);
    }
  });
  sums.write(mine.of_queries(grads.query), own, a.scale, a.scale);
}

// Numbers of the 32 queries of a tile, in shared memory: largest score, 1 / sum, and mean of gradients.
struct TileFacts {
  float largest[kTile], inverse_sum[kTile], mean[kTile];

  __device__ __forceinline__ void read(const Attention& a, const Place& place, const float* means, int first) {
    const int number = static_cast<int>(threadIdx.x), query = first + number;
    if (number < kTile) {
      const bool exists = query < place.queries;
      const int64_t stat = exists ? place.stat(a, query) : 0;
      begin_copy<4>(largest + number, a.largest + stat, exists);
      begin_copy<4>(inverse_sum + number, a.inverse_sum + stat, exists);
      begin_copy<4>(mean + number, means + stat, exists);
    }
  }
};

// What a warp knows of its keys.
struct OwnKeys {
  const Attention& a;
  int own;
  Sight sights[2];
  uint32_t* words;  // of the dropout mask, in shared memory

  // Whether none of queries first .. first + 32 sees one of the own keys. The same in all lanes.
  __device__ __forceinline__ bool seen_by_none(const Place& place, int first) const {
    const bool before = a.causal && first + kTile <= own;
    return own >= place.keys || before || (a.window > 0 && first >= own + kFragmentRows - 1 + a.window);
  }
  // The products with queries first .. first + 32 become weights with dropout, and gradients of scores without the
  // scale.
  __device__ __forceinline__ void differentiate(const Place& place, int first, const TileFacts& facts,
                                                TileSums& weights, TileSums& grads) const {
    TileSums factors;
    const bool drops = a.mask.threshold != 0;
    if (drops) {
      factors_of_keys(a, place, own, first, words, factors);
    }
    DRAGOMAN_UNROLL
    for (int eight = 0; eight < kOtherEights; ++eight) {
      DRAGOMAN_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int number = eight * kGroup + 2 * lane_pair() + i % 2, query = first + number;
        const int key = own + lane_row() + i / 2 * kGroup;
        float &weight = weights.eights[eight].v[i], &grad = grads.eights[eight].v[i];
        const float factor = drops ? factors.eights[eight].v[i] : 1.0F;
        float undropped = 0;
        if (sights[i / 2].has(query)) {
          undropped = fast_exp(place.score(a, query, key, weight) - facts.largest[number]) * facts.inverse_sum[number];
        }
        weight = undropped * factor;
        grad = undropped * (factor * grad - facts.mean[number]);
      }
    }
  }
};

// Own rows are keys: the gradients of key and value, over the heads of query that share them.
template <int kColumns, int kWarpsOfBlock>
__global__ void __launch_bounds__(kWarpsOfBlock* kWarp)
    backward_key_fragments(Attention a, const SentenceTile* tiles, AttentionGrads grads) {
  alignas(16) __shared__ BFloat16 memory[TileBuffers<kColumns>::kElements];
  __shared__ uint32_t mask_words_of[kWarpsOfBlock][kMaskWords];
  __shared__ TileFacts facts[2];
  const TileBuffers<kColumns> buffers{memory};
  const SentenceTile tile = tiles[blockIdx.x];
  const int key_head = static_cast<int>(blockIdx.y), own = tile.first + warp_number() * kFragmentRows;
  Place place(a, tile.sentence, key_head * a.group);
  const OwnKeys mine{a,
                     own,
                     {sight_of_key(a, place, own + lane_row()), sight_of_key(a, place, own + lane_row() + kGroup)},
                     mask_words_of[warp_number()]};
  const auto rows_of = [&](const AnyMatrix& matrix) {
    return head_rows<BFloat16>(matrix, place.first_key, place.keys, key_head, a.d_head);
  };
  OwnRows<kColumns> keys, values;
  keys.read(rows_of(a.key), own);
  values.read(rows_of(a.value), own);
  const auto read = [&](int first, int buffer) {
    const auto of_head = [&](const AnyMatrix& matrix) {
      return head_rows<BFloat16>(matrix, place.first_query, place.queries, place.head, a.d_head);
    };
    buffers.first(buffer).read(of_head(a.query), first);
    buffers.second(buffer).read(of_head(grads.grad_context), first);
    facts[buffer].read(a, place, grads.mean, first);
  };
  const auto for_each_query = [&](const auto& use) {
    for (place.head = key_head * a.group; place.head < (key_head + 1) * a.group; ++place.head) {
      for_each_tile(queries_of(a, place, tile, kWarpsOfBlock * kFragmentRows), read, [&](int first, int buffer) {
        if (kWarpsOfBlock == kLongWarps && mine.seen_by_none(place, first)) {
          return;
        }
        TileSums weights, weight_grads;
        keys.multiply(buffers.first(buffer), weights);
        values.multiply(buffers.second(buffer), weight_grads);
        mine.differentiate(place, first, facts[buffer], weights, weight_grads);
        use(weights, weight_grads, buffer);
      });
    }
  };
  RowSums<kColumns> key_sums, value_sums;
  const auto add_values = [&](const TileSums& weights, const TileSums&, int buffer) {
    value_sums.add(weights, buffers.second(buffer));
  };
  const auto add_keys = [&](const TileSums&, const TileSums& score_grads, int buffer) {
    key_sums.add(score_grads, buffers.first(buffer));
  };
  if constexpr (kColumns <= 64) {
    for_each_query([&](const TileSums& weights, const TileSums& score_grads, int buffer) {
      add_values(weights, score_grads, buffer);
      add_keys(weights, score_grads, buffer);
    });
    value_sums.write(rows_of(grads.value), own, 1.0F, 1.0F);
  } else {  // registers have one kind of sums at a time
    for_each_query(add_values);
    value_sums.write(rows_of(grads.value), own, 1.0F, 1.0F);
    for_each_query(add_keys);
  }
  key_sums.write(rows_of(grads.key), own, a.scale, a.scale);
}

template <int kColumns, int kWarpsOfBlock>
void forward_of(const Attention& a, const Tiles& tiles, const AnyMatrix& context) {
  launch("attention_forward", forward_fragments<kColumns, kWarpsOfBlock>, {grid_of(a, tiles), kWarpsOfBlock * kWarp}, a,
         tiles.data, context);
}

template <int kColumns, int kWarpsOfBlock>
void backward_of_queries(const Attention& a, const Tiles& tiles, const AttentionGrads& grads) {
  const size_t shared = a.bias == nullptr ? 0 : size_t{kTile} * kTile * sizeof(float);
  launch("attention_backward", backward_query_fragments<kColumns, kWarpsOfBlock>,
         {grid_of(a, tiles), kWarpsOfBlock * kWarp, shared}, a, tiles.data, grads);
}

template <int kColumns, int kWarpsOfBlock>
void backward_of_keys(const Attention& a, const Tiles& tiles, const AttentionGrads& grads) {
  launch("attention_backward", backward_key_fragments<kColumns, kWarpsOfBlock>,
         {key_grid_of(a, tiles), kWarpsOfBlock * kWarp}, a, tiles.data, grads);
}

// Calls run.operator()<kColumns>() for the width of the heads.
template <typename Run>
void for_columns(const Attention& a, const Run& run) {
  if (a.d_head <= 32) {
    run.template operator()<32>();
  } else if (a.d_head <= 64) {
    run.template operator()<64>();
  } else {
    run.template operator()<kWidestHead>();
  }
}

}  // namespace

bool takes_long_tiles(const Attention& a, const AnyMatrix& context) {
  return fits_fragments(a) && fits_fragments(context);
}

bool takes_long_tiles(const Attention& a, const AttentionGrads& grads) {
  return a.bias == nullptr && fits_fragments(a) && fits_fragments(grads);
}

bool attention_forward_by_fragments(const Attention& a, const TilesOfRows& tiles, const AnyMatrix& context) {
  if (!takes_long_tiles(a, context)) {
    return false;
  }
  for_columns(a, [&]<int kColumns>() {
    forward_of<kColumns, kFragmentWarps>(a, tiles.usual, context);
    forward_of<kColumns, kLongWarps>(a, tiles.longer, context);
  });
  return true;
}

bool attention_backward_by_fragments(const Attention& a, const TilesOfRows& queries, const TilesOfRows& keys,
                                     const AttentionGrads& grads) {
  if (!fits_fragments(a) || !fits_fragments(grads)) {
    return false;
  }
  for_columns(a, [&]<int kColumns>() {
    backward_of_queries<kColumns, kFragmentWarps>(a, queries.usual, grads);
    backward_of_queries<kColumns, kLongWarps>(a, queries.longer, grads);
    backward_of_keys<kColumns, kFragmentWarps>(a, keys.usual, grads);  // read the means of all queries
    backward_of_keys<kColumns, kLongWarps>(a, keys.longer, grads);
  });
  return true;
}

}  // namespace dragoman::kernels::cuda
