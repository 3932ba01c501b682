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
  return expf(place.score(a, query, key, product) - a.largest[stat]) * a.inverse_sum[stat];
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

// Own rows are keys. `weights` and `grads` receive the dropped weights of the lane's query, and the gradients of its
// scores.
__device__ __forceinline__ void weights_of_keys(const Attention& a, const Place& place, const float* means,
                                                const FourTiles& t, int own_row, int query, int key,
                                                float (&weights)[kOwn], float (&grads)[kOwn]) {
  float factors[kOwn];
  multiply_rows(t.keys, own_row, t.queries, a.d_head, weights);
  multiply_rows(t.values, own_row, t.grads, a.d_value, grads);
  factors_of_keys(a, place, query, key, factors);
  const float mean = query < place.queries ? means[place.stat(a, query)] : 0.0F;
  DRAGOMAN_UNROLL
  for (int i = 0; i < kOwn; ++i) {
    const float weight = weight_of(a, place, query, key + i, weights[i]);
    weights[i] = weight * factors[i];
    grads[i] = weight * (factors[i] * grads[i] - mean);
  }
}

// The means of the gradients of the weights of own queries: gradient of the context times the context. Writes them.
template <typename T>
__device__ __forceinline__ void find_means(const Attention& a, const Place& place, const AttentionGrads& grads,
                                           const Tile& context_grads, int first, float (&mean)[kOwn]) {
  const int own = warp_number() * kOwn;
  const auto context = head_rows<T>(grads.context, place.first_query, place.queries, place.head, a.d_value);
  for (int i = 0; i < kOwn; ++i) {
    const int query = first + own + i;
    float sum = 0;
    for (int column = lane_number(); column < a.d_value && query < place.queries; column += kWarp) {
      sum += context_grads.row(own + i)[column] * widen(context.first[query * context.stride + column]);
    }
    mean[i] = over_warp(sum, Sum());
    if (query < place.queries && lane_number() == 0) {
      grads.mean[place.stat(a, query)] = mean[i];
    }
  }
}

// Own rows are queries: the gradient of the query.
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
  const auto keys = head_rows<T>(a.key, place.first_key, place.keys, place.key_head, a.d_head);
  const auto values = head_rows<T>(a.value, place.first_key, place.keys, place.key_head, a.d_value);
  const OtherRows others = keys_of(a, place, tile);
  const int own = warp_number() * kOwn, query = tile.first + own;
  const Diagonals diagonals = diagonals_of(a, grads, t.values.end());
  if (a.bias != nullptr) {
    diagonals.clear();
  }
  __syncthreads();
  float mean[kOwn], sums[kOwn][kParts] = {};
  find_means<T>(a, place, grads, t.grads, tile.first, mean);
  for (int first = others.first; first < others.end; first += kTile) {
    __syncthreads();
    read_tile(keys, first, t.keys);
    read_tile(values, first, t.values);
    __syncthreads();
    float weights[kOwn], weight_grads[kOwn];
    weights_of_queries(a, place, t, own, query, first, weights, weight_grads);
    DRAGOMAN_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      weights[i] *= weight_grads[i] - mean[i];
    }
    add_rows(weights, t.exchange, t.keys, a.d_head, sums);
    if (a.bias != nullptr) {
      diagonals.add(first);
    }
  }
  DRAGOMAN_UNROLL
  for (int i = 0; i < kOwn; ++i) {
    if (query + i < place.queries) {
      write_row<T>(grads.query, place.first_query + query + i, place.head, a.d_head, sums[i], a.scale);
    }
  }
}

// Own rows are keys: the gradients of key and value, over the heads of query that share them.
template <typename T, int kParts>
__global__ void __launch_bounds__(kThreads)
    backward_keys(Attention a, const SentenceTile* tiles, AttentionGrads grads) {
  DRAGOMAN_DYNAMIC_SHARED(float, memory);
  const SentenceTile tile = tiles[blockIdx.x];
  const int key_head = static_cast<int>(blockIdx.y);
  Place place(a, tile.sentence, key_head * a.group);
  const FourTiles t(memory, a);
  read_tile(head_rows<T>(a.key, place.first_key, place.keys, key_head, a.d_head), tile.first, t.keys);
  read_tile(head_rows<T>(a.value, place.first_key, place.keys, key_head, a.d_value), tile.first, t.values);
  const int own = warp_number() * kOwn, key = tile.first + own;
  const OtherRows others = queries_of(a, place, tile);
  float key_sums[kOwn][kParts] = {}, value_sums[kOwn][kParts] = {};
  for (; place.head < (key_head + 1) * a.group; ++place.head) {
    const auto queries = head_rows<T>(a.query, place.first_query, place.queries, place.head, a.d_head);
    const auto grad_rows = head_rows<T>(grads.grad_context, place.first_query, place.queries, place.head, a.d_value);
    for (int first = others.first; first < others.end; first += kTile) {
      __syncthreads();
      read_tile(queries, first, t.queries);
      read_tile(grad_rows, first, t.grads);
      __syncthreads();
      float weights[kOwn], weight_grads[kOwn];
      weights_of_keys(a, place, grads.mean, t, own, first + lane_number(), key, weights, weight_grads);
      add_rows(weights, t.exchange, t.grads, a.d_value, value_sums);
      add_rows(weight_grads, t.exchange, t.queries, a.d_head, key_sums);
    }
  }
  DRAGOMAN_UNROLL
  for (int i = 0; i < kOwn; ++i) {
    if (key + i < place.keys) {
      write_row<T>(grads.key, place.first_key + key + i, key_head, a.d_head, key_sums[i], a.scale);
      write_row<T>(grads.value, place.first_key + key + i, key_head, a.d_value, value_sums[i], 1.0F);
    }
  }
}

// A warp has a head and a distance, and adds what each tile of query rows has of it: a lane every 32nd tile.
__global__ void __launch_bounds__(kThreads) sum_parts(Attention a, Tiles tiles, AttentionGrads grads) {
  const int64_t element = static_cast<int64_t>(blockIdx.x) * kWarps + warp_number();
  if (element >= static_cast<int64_t>(a.heads) * 2 * a.reach) {
    return;
  }
  const int64_t head = element / (2 * a.reach), width = grads.part;
  const int distance = static_cast<int>(element % (2 * a.reach)) - a.reach;
  float sum = 0;
  for (int64_t tile = lane_number(); tile < tiles.count; tile += kWarp) {
    const int number = tiles.data[tile].first + kTile - 1 - distance;
    sum += number >= 0 && number < width ? grads.bias_parts[(tile * a.heads + head) * width + number] : 0.0F;
  }
  sum = over_warp(sum, Sum());
  if (lane_number() == 0) {
    grads.bias[element] = sum;
  }
}

template <typename T, int kParts>
void backward_of(const Attention& a, const Tiles& queries, const Tiles& keys, const AttentionGrads& grads) {
  const size_t shared = shared_bytes(a, 2, 2);
  launch("attention_backward", backward_queries<T, kParts>, {grid_of(a, queries), kThreads, shared}, a, queries.data,
         grads);
  launch("attention_backward", backward_keys<T, kParts>, {key_grid_of(a, keys), kThreads, shared}, a, keys.data, grads);
}

}  // namespace

void attention_backward(const Attention& a, const TilesOfRows& queries, const TilesOfRows& keys,
                        const AttentionGrads& grads) {
  if (!attention_backward_by_fragments(a, queries, keys, grads)) {
    for_kind(a, [&]<typename T, int kParts>() { backward_of<T, kParts>(a, queries.usual, keys.usual, grads); });
  }
  if (a.bias != nullptr) {
    const int64_t elements = static_cast<int64_t>(a.heads) * 2 * a.reach;
    launch("attention_backward", sum_parts, {dim3(blocks_for(elements, kWarps)), kThreads}, a, queries.usual, grads);
  }
}

}  // namespace dragoman::kernels::cuda
