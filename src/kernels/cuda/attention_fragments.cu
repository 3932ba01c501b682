// Attention over ragged rows by tensor cores.
#include "kernels/cuda/attention_fragments-inl.h"

namespace dragoman::kernels::cuda {
namespace {

// Calls op(eight, i, row, other) for the lane's parts of a tile: own row number, of the block's tile, and other row.
template <typename Op>
__device__ __forceinline__ void for_each_part(int own, int first, const Op& op) {
  DRAGOMAN_UNROLL
  for (int eight = 0; eight < kOtherEights; ++eight) {
    DRAGOMAN_UNROLL
    for (int i = 0; i < 4; ++i) {
      op(eight, i, own + lane_row() + i / 2 * kGroup, first + eight * kGroup + 2 * lane_pair() + i % 2);
    }
  }
}

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
      const float rescale = expf(largest[half] - shift);
      DRAGOMAN_UNROLL
      for (Sums& eight : scores.eights) {
        eight.v[2 * half] = expf(eight.v[2 * half] - shift);
        eight.v[2 * half + 1] = expf(eight.v[2 * half + 1] - shift);
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

__device__ __forceinline__ void multiply_parts(TileSums& tile, const TileSums& factors) {
  DRAGOMAN_UNROLL
  for (int eight = 0; eight < kOtherEights; ++eight) {
    DRAGOMAN_UNROLL
    for (int i = 0; i < 4; ++i) {
      tile.eights[eight].v[i] *= factors.eights[eight].v[i];
    }
  }
}

template <int kColumns>
__global__ void __launch_bounds__(kFragmentThreads)
    forward_fragments(Attention a, const SentenceTile* tiles, AnyMatrix context) {
  alignas(16) __shared__ BFloat16 key_memory[SharedRows<kColumns>::kElements];
  alignas(16) __shared__ BFloat16 value_memory[SharedRows<kColumns>::kElements];
  __shared__ uint32_t mask_words_of[kFragmentWarps][kMaskWords];
  const SharedRows<kColumns> keys{key_memory}, values{value_memory};
  const SentenceTile tile = tiles[blockIdx.x];
  const Place place(a, tile.sentence, static_cast<int>(blockIdx.y));
  const auto all_keys = head_rows<BFloat16>(a.key, place.first_key, place.keys, place.key_head, a.d_head);
  const auto all_values = head_rows<BFloat16>(a.value, place.first_key, place.keys, place.key_head, a.d_head);
  const int own = tile.first + warp_number() * kFragmentRows;
  OwnRows<kColumns> queries;
  queries.read(head_rows<BFloat16>(a.query, place.first_query, place.queries, place.head, a.d_head), own);
  TwoRows rows;
  RowSums<kColumns> sums;
  const OtherRows others = keys_of(a, place, tile);
  for (int first = others.first; first < others.end; first += kTile) {
    __syncthreads();
    keys.read(all_keys, first);
    values.read(all_values, first);
    __syncthreads();
    TileSums scores;
    queries.multiply(keys, scores);
    for_each_part(own, first, [&](int eight, int i, int query, int key) {
      float& score = scores.eights[eight].v[i];
      score = place.sees(a, query, key) ? place.score(a, query, key, score) : -INFINITY;
    });
    rows.take(scores, sums);
    if (a.mask.threshold != 0) {
      TileSums factors;
      factors_of_queries(a, place, own, first, mask_words_of[warp_number()], factors);
      multiply_parts(scores, factors);
    }
    sums.add(scores, values);
  }
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
  sums.write(head_rows<BFloat16>(context, place.first_query, place.queries, place.head, a.d_head), own, inverse[0],
             inverse[1]);
}

// What a backward needs of a query's softmax.
struct QueryFacts {
  float largest = 0, inverse_sum = 0;
  __device__ __forceinline__ QueryFacts(const Attention& a, const Place& place, int query) {
    if (query < place.queries) {
      largest = a.largest[place.stat(a, query)];
      inverse_sum = a.inverse_sum[place.stat(a, query)];
    }
  }
  __device__ __forceinline__ float weight(float score) const { return expf(score - largest) * inverse_sum; }
};

// Own rows are queries: the gradient of the query, after the mean of the gradients of its weights.
template <int kColumns>
__global__ void __launch_bounds__(kFragmentThreads)
    backward_query_fragments(Attention a, const SentenceTile* tiles, AttentionGrads grads) {
  alignas(16) __shared__ BFloat16 key_memory[SharedRows<kColumns>::kElements];
  alignas(16) __shared__ BFloat16 value_memory[SharedRows<kColumns>::kElements];
  __shared__ uint32_t mask_words_of[kFragmentWarps][kMaskWords];
  const SharedRows<kColumns> keys{key_memory}, values{value_memory};
  const SentenceTile tile = tiles[blockIdx.x];
  const Place place(a, tile.sentence, static_cast<int>(blockIdx.y));
  const auto all_keys = head_rows<BFloat16>(a.key, place.first_key, place.keys, place.key_head, a.d_head);
  const auto all_values = head_rows<BFloat16>(a.value, place.first_key, place.keys, place.key_head, a.d_head);
  const int own = tile.first + warp_number() * kFragmentRows, low = own + lane_row(), high = low + kGroup;
  OwnRows<kColumns> queries, context_grads;
  queries.read(head_rows<BFloat16>(a.query, place.first_query, place.queries, place.head, a.d_head), own);
  context_grads.read(head_rows<BFloat16>(grads.grad_context, place.first_query, place.queries, place.head, a.d_head),
                     own);
  const QueryFacts facts[2] = {QueryFacts(a, place, low), QueryFacts(a, place, high)};
  const OtherRows others = keys_of(a, place, tile);
  DRAGOMAN_DYNAMIC_SHARED(float, score_grads);  // if there is a bias
  const Diagonals diagonals = diagonals_of(a, grads, score_grads);
  if (a.bias != nullptr) {
    diagonals.clear(a.reach);
  }
  float mean[2] = {};
  RowSums<kColumns> sums;
  for (int pass = 0; pass < 2; ++pass) {  // first the means, then what needs them
    for (int first = others.first; first < others.end; first += kTile) {
      if (pass == 0 || others.end - others.first > kTile) {  // otherwise the only tile is still there
        __syncthreads();
        keys.read(all_keys, first);
        values.read(all_values, first);
        __syncthreads();
      }
      TileSums weights, weight_grads;
      queries.multiply(keys, weights);
      context_grads.multiply(values, weight_grads);
      if (a.mask.threshold != 0) {
        TileSums factors;
        factors_of_queries(a, place, own, first, mask_words_of[warp_number()], factors);
        multiply_parts(weight_grads, factors);
      }
      for_each_part(own, first, [&](int eight, int i, int query, int key) {
        float& weight = weights.eights[eight].v[i];
        const float grad = weight_grads.eights[eight].v[i];
        weight = place.sees(a, query, key) ? facts[i / 2].weight(place.score(a, query, key, weight)) : 0.0F;
        mean[i / 2] += pass == 0 ? weight * grad : 0.0F;
        weight *= grad - mean[i / 2];
      });
      if (pass == 1) {
        sums.add(weights, keys);
        if (a.bias != nullptr) {
          for_each_part(own - tile.first, 0, [&](int eight, int i, int query, int key) {
            score_grads[query * kTile + key] = weights.eights[eight].v[i];
          });
          diagonals.add(first);
        }
      }
    }
    if (pass == 0) {
      mean[0] = over_quad(mean[0]);
      mean[1] = over_quad(mean[1]);
    }
  }
  sums.write(head_rows<BFloat16>(grads.query, place.first_query, place.queries, place.head, a.d_head), own, a.scale,
             a.scale);
  DRAGOMAN_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int query = own + lane_row() + half * kGroup;
    if (query < place.queries && lane_pair() == 0) {
      grads.mean[place.stat(a, query)] = mean[half];
    }
  }
}

// Own rows are keys: the products become weights with dropout, and gradients of scores without the scale.
__device__ __forceinline__ void weights_of_keys(const Attention& a, const Place& place, const float* means, int own,
                                                int first, uint32_t* words, TileSums& weights, TileSums& grads) {
  TileSums factors;
  const bool drops = a.mask.threshold != 0;
  if (drops) {
    factors_of_keys(a, place, own, first, words, factors);
  }
  DRAGOMAN_UNROLL
  for (int eight = 0; eight < kOtherEights; ++eight) {
    DRAGOMAN_UNROLL
    for (int j = 0; j < 2; ++j) {
      const int query = first + eight * kGroup + 2 * lane_pair() + j;
      const QueryFacts facts(a, place, query);
      const float mean = query < place.queries ? means[place.stat(a, query)] : 0.0F;
      DRAGOMAN_UNROLL
      for (int i = j; i < 4; i += 2) {
        float &weight = weights.eights[eight].v[i], &grad = grads.eights[eight].v[i];
        const float factor = drops ? factors.eights[eight].v[i] : 1.0F;
        const int key = own + lane_row() + i / 2 * kGroup;
        const float undropped = place.sees(a, query, key) ? facts.weight(place.score(a, query, key, weight)) : 0.0F;
        weight = undropped * factor;
        grad = undropped * (factor * grad - mean);
      }
    }
  }
}

// Own rows are keys: the gradients of key and value.
template <int kColumns>
__global__ void __launch_bounds__(kFragmentThreads)
    backward_key_fragments(Attention a, const SentenceTile* tiles, AttentionGrads grads) {
  alignas(16) __shared__ BFloat16 query_memory[SharedRows<kColumns>::kElements];
  alignas(16) __shared__ BFloat16 grad_memory[SharedRows<kColumns>::kElements];
  __shared__ uint32_t mask_words_of[kFragmentWarps][kMaskWords];
  const SharedRows<kColumns> queries{query_memory}, context_grads{grad_memory};
  const SentenceTile tile = tiles[blockIdx.x];
  const int key_head = static_cast<int>(blockIdx.y);
  Place place(a, tile.sentence, key_head * a.group);
  const auto rows_of = [&](const AnyMatrix& matrix) {
    return head_rows<BFloat16>(matrix, place.first_key, place.keys, key_head, a.d_head);
  };
  const int own = tile.first + warp_number() * kFragmentRows;
  OwnRows<kColumns> keys, values;
  keys.read(rows_of(a.key), own);
  values.read(rows_of(a.value), own);
  RowSums<kColumns> key_sums, value_sums;
  const OtherRows others = queries_of(a, place, tile);
  for (; place.head < (key_head + 1) * a.group; ++place.head) {
    const auto all_queries = head_rows<BFloat16>(a.query, place.first_query, place.queries, place.head, a.d_head);
    const auto all_grads =
        head_rows<BFloat16>(grads.grad_context, place.first_query, place.queries, place.head, a.d_head);
    for (int first = others.first; first < others.end; first += kTile) {
      __syncthreads();
      queries.read(all_queries, first);
      context_grads.read(all_grads, first);
      __syncthreads();
      TileSums weights, weight_grads;
      keys.multiply(queries, weights);
      values.multiply(context_grads, weight_grads);
      weights_of_keys(a, place, grads.mean, own, first, mask_words_of[warp_number()], weights, weight_grads);
      value_sums.add(weights, context_grads);
      key_sums.add(weight_grads, queries);
    }
  }
  key_sums.write(rows_of(grads.key), own, a.scale, a.scale);
  value_sums.write(rows_of(grads.value), own, 1.0F, 1.0F);
}

template <int kColumns>
void backward_of(const Attention& a, const Tiles& queries, const Tiles& keys, const AttentionGrads& grads) {
  const size_t shared = a.bias == nullptr ? 0 : size_t{kTile} * kTile * sizeof(float);
  launch("attention_backward", backward_query_fragments<kColumns>, {grid_of(a, queries), kFragmentThreads, shared}, a,
         queries.data, grads);
  launch("attention_backward", backward_key_fragments<kColumns>, {key_grid_of(a, keys), kFragmentThreads}, a, keys.data,
         grads);
}

}  // namespace

bool attention_forward_by_fragments(const Attention& a, const SentenceTile* tiles, int64_t count,
                                    const AnyMatrix& context) {
  if (!fits_fragments(a) || !fits_fragments(context)) {
    return false;
  }
  const auto kernel = a.d_head <= 32   ? forward_fragments<32>
                      : a.d_head <= 64 ? forward_fragments<64>
                                       : forward_fragments<kWidestHead>;
  launch("attention_forward", kernel, {grid_of(a, {tiles, count}), kFragmentThreads}, a, tiles, context);
  return true;
}

bool attention_backward_by_fragments(const Attention& a, const SentenceTile* query_tiles, int64_t query_count,
                                     const SentenceTile* key_tiles, int64_t key_count, const AttentionGrads& grads) {
  if (!fits_fragments(a) || !fits_fragments(grads.grad_context) || !fits_fragments(grads.query) ||
      !fits_fragments(grads.key) || !fits_fragments(grads.value)) {
    return false;
  }
  const Tiles queries{query_tiles, query_count}, keys{key_tiles, key_count};
  if (a.d_head <= 32) {
    backward_of<32>(a, queries, keys, grads);
  } else if (a.d_head <= 64) {
    backward_of<64>(a, queries, keys, grads);
  } else {
    backward_of<kWidestHead>(a, queries, keys, grads);
  }
  return true;
}

}  // namespace dragoman::kernels::cuda
