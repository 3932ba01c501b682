#include "kernels/cuda/attention_tiles-inl.h"

namespace dragoman::kernels::cuda {
namespace {

// The four tiles of a backward: query, gradient of the context, key, value; and memory of each warp.
struct FourTiles {
  Tile queries, grads, keys, values;
  float* exchange;
  __device__ FourTiles(float* memory, const Attention& a)
      : queries{memory, tile_stride(a.d_head)},
        grads{queries.end(), tile_stride(a.d_value)},
        keys{grads.end(), queries.stride},
        values{keys.end(), grads.stride},
        exchange(values.end() + warp_number() * kOwn * kTile) {}
};

// The weight of one (query, key), from its product; 0 if the query does not see the key.
__device__ __forceinline__ float weight_of(const Attention& a, const Place& place, int query, int key, float product) {
  if (!place.sees(a, query, key)) {
    return 0.0F;
  }
  const int64_t stat = place.stat(a, query);
  return expf(product * a.scale - a.largest[stat]) * a.inverse_sum[stat];
}

// Own rows are queries. `weights` and `grads` receive the weights of the lane's key and their gradients.
__device__ __forceinline__ void weights_of_queries(const Attention& a, const Place& place, const FourTiles& t,
                                                   int own_row, int query, int first_key, float (&weights)[kOwn],
                                                   float (&grads)[kOwn]) {
  float factors[kOwn];
  multiply_rows(t.queries, own_row, t.keys, a.d_head, weights);
  multiply_rows(t.grads, own_row, t.values, a.d_value, grads);
  factors_of_queries(a, place, query, first_key, t.exchange, factors);
  DRAGOMAN_UNROLL
  for (int i = 0; i < kOwn; ++i) {
    weights[i] = weight_of(a, place, query + i, first_key + lane_number(), weights[i]);
    grads[i] *= factors[i];
  }
}

// Own rows are queries: the gradient of the query, after the mean of the gradients of its weights.
template <typename T, int kParts>
__global__ void __launch_bounds__(kThreads)
    backward_queries(Attention a, const SentenceTile* tiles, AttentionGrads grads) {
  DRAGOMAN_DYNAMIC_SHARED(float, memory);
  const SentenceTile tile = tiles[blockIdx.x];
  const Place place(a, tile.sentence, static_cast<int>(blockIdx.y));
  const FourTiles t(memory, a);
  read_tile(head_rows<T>(a.query, place.first_query, place.queries, place.head, a.d_head), tile.first, t.queries);
  read_tile(head_rows<T>(grads.grad_context, place.first_query, place.queries, place.head, a.d_value), tile.first,
            t.grads);
  const auto keys = head_rows<T>(a.key, place.first_key, place.keys, place.head, a.d_head);
  const auto values = head_rows<T>(a.value, place.first_key, place.keys, place.head, a.d_value);
  const int end = end_of_keys(a, place, tile), own = warp_number() * kOwn, query = tile.first + own;
  float mean[kOwn] = {}, sums[kOwn][kParts] = {};
  for (int pass = 0; pass < 2; ++pass) {  // first the means, then what needs them
    for (int first = 0; first < end; first += kTile) {
      __syncthreads();
      read_tile(keys, first, t.keys);
      read_tile(values, first, t.values);
      __syncthreads();
      float weights[kOwn], weight_grads[kOwn];
      weights_of_queries(a, place, t, own, query, first, weights, weight_grads);
      DRAGOMAN_UNROLL
      for (int i = 0; i < kOwn; ++i) {
        mean[i] += pass == 0 ? weights[i] * weight_grads[i] : 0.0F;
        weights[i] *= weight_grads[i] - mean[i];
      }
      if (pass == 1) {
        add_rows(weights, t.exchange, t.keys, a.d_head, sums);
      }
    }
    DRAGOMAN_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      mean[i] = pass == 0 ? over_warp(mean[i], Sum()) : mean[i];
    }
  }
  DRAGOMAN_UNROLL
  for (int i = 0; i < kOwn; ++i) {
    if (query + i < place.queries) {
      write_row<T>(grads.query, place.first_query + query + i, place.head, a.d_head, sums[i], a.scale);
      if (lane_number() == 0) {
        grads.mean[place.stat(a, query + i)] = mean[i];
      }
    }
  }
}

// Own rows are keys: the gradients of key and value.
template <typename T, int kParts>
__global__ void __launch_bounds__(kThreads)
    backward_keys(Attention a, const SentenceTile* tiles, AttentionGrads grads) {
  DRAGOMAN_DYNAMIC_SHARED(float, memory);
  const SentenceTile tile = tiles[blockIdx.x];
  const Place place(a, tile.sentence, static_cast<int>(blockIdx.y));
  const FourTiles t(memory, a);
  read_tile(head_rows<T>(a.key, place.first_key, place.keys, place.head, a.d_head), tile.first, t.keys);
  read_tile(head_rows<T>(a.value, place.first_key, place.keys, place.head, a.d_value), tile.first, t.values);
  const auto queries = head_rows<T>(a.query, place.first_query, place.queries, place.head, a.d_head);
  const auto grad_rows = head_rows<T>(grads.grad_context, place.first_query, place.queries, place.head, a.d_value);
  const int own = warp_number() * kOwn, key = tile.first + own;
  float key_sums[kOwn][kParts] = {}, value_sums[kOwn][kParts] = {};
  for (int first = a.causal ? tile.first : 0; first < place.queries; first += kTile) {
    __syncthreads();
    read_tile(queries, first, t.queries);
    read_tile(grad_rows, first, t.grads);
    __syncthreads();
    const int query = first + lane_number();
    const float mean = query < place.queries ? grads.mean[place.stat(a, query)] : 0.0F;
    float weights[kOwn], weight_grads[kOwn], factors[kOwn];
    multiply_rows(t.keys, own, t.queries, a.d_head, weights);
    multiply_rows(t.values, own, t.grads, a.d_value, weight_grads);
    factors_of_keys(a, place, query, key, factors);
    DRAGOMAN_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      const float weight = weight_of(a, place, query, key + i, weights[i]);
      weights[i] = weight * factors[i];
      weight_grads[i] = weight * (factors[i] * weight_grads[i] - mean);
    }
    add_rows(weights, t.exchange, t.grads, a.d_value, value_sums);
    add_rows(weight_grads, t.exchange, t.queries, a.d_head, key_sums);
  }
  DRAGOMAN_UNROLL
  for (int i = 0; i < kOwn; ++i) {
    if (key + i < place.keys) {
      write_row<T>(grads.key, place.first_key + key + i, place.head, a.d_head, key_sums[i], a.scale);
      write_row<T>(grads.value, place.first_key + key + i, place.head, a.d_value, value_sums[i], 1.0F);
    }
  }
}

template <typename T, int kParts>
void backward_of(const Attention& a, const Tiles& queries, const Tiles& keys, const AttentionGrads& grads) {
  const size_t shared = shared_bytes(a, 2, 2);
  launch("attention_backward", backward_queries<T, kParts>, {grid_of(a, queries), kThreads, shared}, a, queries.data,
         grads);
  launch("attention_backward", backward_keys<T, kParts>, {grid_of(a, keys), kThreads, shared}, a, keys.data, grads);
}

}  // namespace

void attention_backward(const Attention& a, const SentenceTile* query_tiles, int64_t query_count,
                        const SentenceTile* key_tiles, int64_t key_count, const AttentionGrads& grads) {
  if (attention_backward_by_fragments(a, query_tiles, query_count, key_tiles, key_count, grads)) {
    return;
  }
  for_kind(a, [&]<typename T, int kParts>() {
    backward_of<T, kParts>(a, {query_tiles, query_count}, {key_tiles, key_count}, grads);
  });
}

}  // namespace dragoman::kernels::cuda
