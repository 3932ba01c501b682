#include "kernels/cuda/attention_tiles-inl.h"

namespace dragoman::kernels::cuda {
namespace {

// What the warp of a forward keeps of its rows.
template <int kParts>
struct Softmax {
  float sums[kOwn][kParts] = {}, largest[kOwn], total[kOwn] = {};

  // Takes the scores of 32 more keys; they become weights relative to the largest score so far.
  __device__ __forceinline__ void take(float (&scores)[kOwn]) {
    DRAGOMAN_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      const float now = fmaxf(largest[i], over_warp(scores[i], Largest()));
      const float shift = now == -INFINITY ? 0.0F : now;  // a row that sees nothing yet
      const float rescale = expf(largest[i] - shift);
      scores[i] = expf(scores[i] - shift);
      largest[i] = now;
      total[i] = total[i] * rescale + over_warp(scores[i], Sum());
      DRAGOMAN_UNROLL
      for (int part = 0; part < kParts; ++part) {
        sums[i][part] *= rescale;
      }
    }
  }
};

template <typename T, int kParts>
__global__ void __launch_bounds__(kThreads) forward(Attention a, const SentenceTile* tiles, AnyMatrix context) {
  DRAGOMAN_DYNAMIC_SHARED(float, memory);
  const SentenceTile tile = tiles[blockIdx.x];
  const Place place(a, tile.sentence, static_cast<int>(blockIdx.y));
  const Tile queries{memory, tile_stride(a.d_head)}, keys{queries.end(), queries.stride};
  const Tile values{keys.end(), tile_stride(a.d_value)};
  float* const exchange = values.end() + warp_number() * kOwn * kTile;
  const auto all_keys = head_rows<T>(a.key, place.first_key, place.keys, place.key_head, a.d_head);
  const auto all_values = head_rows<T>(a.value, place.first_key, place.keys, place.key_head, a.d_value);
  read_tile(head_rows<T>(a.query, place.first_query, place.queries, place.head, a.d_head), tile.first, queries);
  const int own = warp_number() * kOwn;
  Softmax<kParts> softmax;
  DRAGOMAN_UNROLL
  for (int i = 0; i < kOwn; ++i) {
    softmax.largest[i] = -INFINITY;
  }
  const OtherRows others = keys_of(a, place, tile);
  for (int first = others.first; first < others.end; first += kTile) {
    __syncthreads();
    read_tile(all_keys, first, keys);
    read_tile(all_values, first, values);
    __syncthreads();
    float scores[kOwn], factors[kOwn];
    multiply_rows(queries, own, keys, a.d_head, scores);
    DRAGOMAN_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      const int query = tile.first + own + i, key = first + lane_number();
      scores[i] = place.sees(a, query, key) ? place.score(a, query, key, scores[i]) : -INFINITY;
    }
    softmax.take(scores);
    factors_of_queries(a, place, tile.first + own, first, exchange, factors);
    DRAGOMAN_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      scores[i] *= factors[i];
    }
    add_rows(scores, exchange, values, a.d_value, softmax.sums);
  }
  DRAGOMAN_UNROLL
  for (int i = 0; i < kOwn; ++i) {
    const int query = tile.first + own + i;
    if (query < place.queries) {
      const float inverse = softmax.total[i] > 0 ? 1.0F / softmax.total[i] : 0.0F;
      write_row<T>(context, place.first_query + query, place.head, a.d_value, softmax.sums[i], inverse);
      if (lane_number() == 0) {
        a.largest[place.stat(a, query)] = inverse > 0 ? softmax.largest[i] : 0.0F;
        a.inverse_sum[place.stat(a, query)] = inverse;
      }
    }
  }
}

// A warp has a query row and head.
template <typename T>
__global__ void __launch_bounds__(kThreads) weights_of_rows(Attention a, int n_keys, float* weights) {
  const int64_t number = static_cast<int64_t>(blockIdx.x) * kWarps + warp_number();
  if (number >= a.heads * a.n_queries) {
    return;
  }
  const Place place(a, 0, static_cast<int>(number / a.n_queries));
  const int query = static_cast<int>(number % a.n_queries);
  const T* row = static_cast<const T*>(a.query.data) + (place.first_query + query) * a.query.stride +
                 static_cast<int64_t>(place.head) * a.d_head;
  const auto score_of = [&](int key) {
    const T* key_row = static_cast<const T*>(a.key.data) + (place.first_key + key) * a.key.stride +
                       static_cast<int64_t>(place.key_head) * a.d_head;
    float sum = 0;
    for (int i = 0; i < a.d_head; ++i) {
      sum += widen(row[i]) * widen(key_row[i]);
    }
    return place.score(a, query, key, sum);
  };
  float largest = -INFINITY, total = 0;
  for (int key = lane_number(); key < n_keys; key += kWarp) {
    largest = place.sees(a, query, key) ? fmaxf(largest, score_of(key)) : largest;
  }
  largest = over_warp(largest, Largest());
  for (int key = lane_number(); key < n_keys; key += kWarp) {
    total += place.sees(a, query, key) ? expf(score_of(key) - largest) : 0.0F;
  }
  total = over_warp(total, Sum());
  for (int key = lane_number(); key < n_keys; key += kWarp) {
    weights[number * n_keys + key] = place.sees(a, query, key) ? expf(score_of(key) - largest) / total : 0.0F;
  }
}

template <typename T, int kParts>
void forward_of(const Attention& a, const Tiles& tiles, const AnyMatrix& context) {
  launch("attention_forward", forward<T, kParts>, {grid_of(a, tiles), kThreads, shared_bytes(a, 2, 1)}, a, tiles.data,
         context);
}

}  // namespace

void attention_forward(const Attention& a, const TilesOfRows& tiles, const AnyMatrix& context) {
  if (!attention_forward_by_fragments(a, tiles, context)) {
    for_kind(a, [&]<typename T, int kParts>() { forward_of<T, kParts>(a, tiles.usual, context); });
  }
}

void attention_weights(const Attention& a, int64_t n_keys, float* weights) {
  const LaunchShape shape{dim3(blocks_for(a.heads * a.n_queries, kWarps)), kThreads};
  if (a.query.is_bfloat16) {
    launch("attention_weights", weights_of_rows<BFloat16>, shape, a, static_cast<int>(n_keys), weights);
  } else {
    launch("attention_weights", weights_of_rows<float>, shape, a, static_cast<int>(n_keys), weights);
  }
}

}  // namespace dragoman::kernels::cuda
