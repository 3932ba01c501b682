// The backward of attention by tensor cores for short sentences: one block does all of a sentence and head.
#include "kernels/cuda/attention_weights-inl.h"

namespace dragoman::kernels::cuda {
namespace {

// Sentences of up to kRows queries and keys. A warp has 16 queries, then 16 keys.
template <int kColumns, int kRows>
struct Short {
  static constexpr int kTiles = kRows / kTile;
  static constexpr unsigned kThreadsOfBlock = kRows / kFragmentRows * kWarp;
  static constexpr int kRowElements = kTiles * SharedRows<kColumns>::kElements;
  static constexpr int kStride = kRows + kGroup;  // of weights
  static constexpr size_t kBytes = sizeof(BFloat16) * (4 * kRowElements + 2 * kRows * kStride);
  static_assert(kFragmentRows * kStride * sizeof(BFloat16) >= kMaskWords * sizeof(uint32_t));

  BFloat16 *queries, *context_grads, *keys, *values;  // [kRows, kColumns] each
  BFloat16 *weights, *score_grads;                    // [kRows, kRows], a row for each query

  __device__ explicit Short(BFloat16* memory)
      : queries(memory),
        context_grads(queries + kRowElements),
        keys(context_grads + kRowElements),
        values(keys + kRowElements),
        weights(values + kRowElements),
        score_grads(weights + kRows * kStride) {}

  __device__ static SharedRows<kColumns> tile_of(BFloat16* rows, int tile) {
    return {rows + tile * SharedRows<kColumns>::kElements};
  }
  __device__ static void read(const HeadRows<BFloat16>& from, BFloat16* rows) {
    for (int tile = 0; tile < kTiles; ++tile) {
      tile_of(rows, tile).read(from, tile * kTile);
    }
  }
  // The own rows of a warp, from shared memory.
  __device__ static OwnRows<kColumns> own_rows(BFloat16* rows) {
    OwnRows<kColumns> own;
    own.read({rows, SharedRows<kColumns>::kStride, kRows, kColumns}, warp_number() * kFragmentRows);
    return own;
  }
};

// Writes a warp's part of weights or gradients of scores to shared memory, rounded.
template <int kStride>
__device__ __forceinline__ void write_part(const TileSums& part, int own, int first_key, BFloat16* to) {
  DRAGOMAN_UNROLL
  for (int eight = 0; eight < kOtherEights; ++eight) {
    BFloat16* const at = to + (own + lane_row()) * kStride + first_key + eight * kGroup + 2 * lane_pair();
    const Sums& sums = part.eights[eight];
    *reinterpret_cast<uint32_t*>(at) = pair_of(sums.v[0], sums.v[1]);
    *reinterpret_cast<uint32_t*>(at + kGroup * kStride) = pair_of(sums.v[2], sums.v[3]);
  }
}

// The weights of own queries, with dropout, and the gradients of their scores without the scale.
template <int kColumns, int kRows>
__device__ __forceinline__ void differentiate(const Attention& a, const Place& place, const Short<kColumns, kRows>& at,
                                              TileSums (&weights)[kRows / kTile], TileSums (&grads)[kRows / kTile]) {
  using Parts = Short<kColumns, kRows>;
  const int own = warp_number() * kFragmentRows;
  const OwnRows<kColumns> queries = Parts::own_rows(at.queries), context_grads = Parts::own_rows(at.context_grads);
  const QueryFacts facts[2] = {QueryFacts(a, place, own + lane_row()), QueryFacts(a, place, own + lane_row() + kGroup)};
  const Sight sights[2] = {sight_of_query(a, place, own + lane_row()),
                           sight_of_query(a, place, own + lane_row() + kGroup)};
  float mean[2] = {};
  TileSums factors[Parts::kTiles];
  DRAGOMAN_UNROLL
  for (int tile = 0; tile < Parts::kTiles; ++tile) {
    queries.multiply(Parts::tile_of(at.keys, tile), weights[tile]);
    context_grads.multiply(Parts::tile_of(at.values, tile), grads[tile]);
    if (a.mask.threshold != 0) {
      // this warp alone writes these rows of weights, later
      auto* words = reinterpret_cast<uint32_t*>(at.weights + own * Parts::kStride);
      factors_of_queries(a, place, own, tile * kTile, words, factors[tile]);
      multiply_parts(grads[tile], factors[tile]);
    }
    for_each_part(own, tile * kTile, [&](int eight, int i, int query, int key) {
      float& weight = weights[tile].eights[eight].v[i];
      const bool sees = sights[i / 2].has(key) && (a.key_mask == nullptr || a.key_mask[place.first_key + key]);
      weight = sees ? facts[i / 2].weight(place.score(a, query, key, weight)) : 0.0F;
      mean[i / 2] += weight * grads[tile].eights[eight].v[i];
    });
  }
  mean[0] = over_quad(mean[0]);
  mean[1] = over_quad(mean[1]);
  DRAGOMAN_UNROLL
  for (int tile = 0; tile < Parts::kTiles; ++tile) {
    for_each_part(own, 0, [&](int eight, int i, int, int) {
      float &weight = weights[tile].eights[eight].v[i], &grad = grads[tile].eights[eight].v[i];
      grad = weight * (grad - mean[i / 2]);
      weight *= a.mask.threshold != 0 ? factors[tile].eights[eight].v[i] : 1.0F;
    });
  }
}

template <int kColumns, int kRows>
__global__ void __launch_bounds__(Short<kColumns, kRows>::kThreadsOfBlock)
    backward_short(Attention a, const SentenceTile* sentences, AttentionGrads grads) {
  using Parts = Short<kColumns, kRows>;
  DRAGOMAN_DYNAMIC_SHARED(BFloat16, memory);
  const Parts at(memory);
  const Place place(a, sentences[blockIdx.x].sentence, static_cast<int>(blockIdx.y));
  const auto of_queries = [&](const AnyMatrix& matrix) {
    return head_rows<BFloat16>(matrix, place.first_query, place.queries, place.head, a.d_head);
  };
  const auto of_keys = [&](const AnyMatrix& matrix) {
    return head_rows<BFloat16>(matrix, place.first_key, place.keys, place.head, a.d_head);
  };
  Parts::read(of_queries(a.query), at.queries);
  Parts::read(of_keys(a.key), at.keys);
  Parts::read(of_queries(grads.grad_context), at.context_grads);
  Parts::read(of_keys(a.value), at.values);
  wait_for_copies();
  __syncthreads();
  const int own = warp_number() * kFragmentRows;
  {
    TileSums weights[Parts::kTiles], score_grads[Parts::kTiles];
    differentiate(a, place, at, weights, score_grads);
    RowSums<kColumns> sums;
    __syncwarp();  // words of the mask were read
    DRAGOMAN_UNROLL
    for (int tile = 0; tile < Parts::kTiles; ++tile) {
      write_part<Parts::kStride>(weights[tile], own, tile * kTile, at.weights);
      write_part<Parts::kStride>(score_grads[tile], own, tile * kTile, at.score_grads);
      sums.add(score_grads[tile], Parts::tile_of(at.keys, tile));
    }
    sums.write(of_queries(grads.query), own, a.scale, a.scale);
  }
  __syncthreads();
  const auto sum_up = [&](const BFloat16* factors, BFloat16* rows, const AnyMatrix& to, float scale) {
    RowSums<kColumns> sums;
    DRAGOMAN_UNROLL
    for (int tile = 0; tile < Parts::kTiles; ++tile) {
      sums.add_transposed(factors + tile * kTile * Parts::kStride + own, Parts::kStride, Parts::tile_of(rows, tile));
    }
    sums.write(of_keys(to), own, scale, scale);
  };
  sum_up(at.weights, at.context_grads, grads.value, 1.0F);
  sum_up(at.score_grads, at.queries, grads.key, a.scale);
}

template <int kColumns, int kRows>
void run(const Attention& a, const SentenceTile* sentences, int64_t count, const AttentionGrads& grads) {
  using Parts = Short<kColumns, kRows>;
  launch("attention_backward", backward_short<kColumns, kRows>,
         {grid_of(a, {sentences, count}), Parts::kThreadsOfBlock, Parts::kBytes}, a, sentences, grads);
}

template <int kRows>
void run_for_width(const Attention& a, const SentenceTile* sentences, int64_t count, const AttentionGrads& grads) {
  if (a.d_head <= 32) {
    run<32, kRows>(a, sentences, count, grads);
  } else {
    run<64, kRows>(a, sentences, count, grads);
  }
}

}  // namespace

bool fits_short_attention(const Attention& a, const AttentionGrads& grads) {
  return a.d_head <= 64 && a.group == 1 && a.bias == nullptr && fits_fragments(a) && fits_fragments(grads);
}

void attention_backward_of_short(const Attention& a, const ShortSentences& sentences, const AttentionGrads& grads) {
  run_for_width<kShortSentence>(a, sentences.data, sentences.shorter, grads);
  run_for_width<2 * kShortSentence>(a, sentences.data + sentences.shorter, sentences.longer, grads);
}

}  // namespace dragoman::kernels::cuda
