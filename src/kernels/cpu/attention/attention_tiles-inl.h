// Attention of one head by the tile registers of AMX, on rows of bfloat16: the products of attention_kernel-inl.h,
//   scores^T = K Q^T                  context = weights V
//   dWeights^T = V dContext^T         dV = weights^T dContext     dK = dScores^T Q     dQ = dScores K
// A left operand has its rows along the depth of the product; cells are two neighbours of a row. A right operand has a
// row of cells for each two steps of depth: of rows that lie along the depth it is the transpose (of cells), of rows
// that are the depth each two are joined. Weights and dScores are rounded on the way.
// Included once per instruction set from files that Highway compiles several times; hence no #pragma once.
#if defined(DRAGOMAN_KERNELS_ATTENTION_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_ATTENTION_TILES_INL_H_
#undef DRAGOMAN_KERNELS_ATTENTION_TILES_INL_H_
#else
#define DRAGOMAN_KERNELS_ATTENTION_TILES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "kernels/cpu/attention/attention_rows-inl.h"
#include "kernels/cpu/attention/attention_softmax-inl.h"
#include "kernels/cpu/attention/attention_tile_scratch.h"
#include "kernels/cpu/gemm/tile_registers-inl.h"
#include "kernels/cpu/simd/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3
// Cells of two bfloat16, as float32.
HWY_INLINE const float* cells(const BFloat16* row) {
  return reinterpret_cast<const float*>(row);
}

// Left operand [rows, columns / 2] of rows along the depth.
HWY_INLINE void copy_cells(MatrixView<const BFloat16> from, int64_t rows, int64_t columns, float* to) {
  const FloatTag d;
  ask_for_next(from, rows, columns);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t c = 0; c < columns / 2; c += kTileSide, to += kTileSide) {
      hn::StoreU(hn::LoadU(d, cells(from.row(row)) + c), d, to);
    }
  }
}

// Right operand [columns / 2, width] of rows along the depth; columns without a row become 0.
HWY_INLINE void transpose_cells(MatrixView<const BFloat16> from, int64_t rows, int64_t columns, float* to,
                                int64_t width) {
  ask_for_next(from, rows, columns);
  transpose(cells(from.data), from.stride / 2, rows, columns / 2, to, width);
}

// Right operand [padded_to_depth(rows) / 2, columns] of rows that are the depth; missing ones count as 0. Of each 32
// columns the order is that of store_unpacked: what is made of them is put in order by round_joined.
HWY_INLINE void join_rows(MatrixView<const BFloat16> from, int64_t rows, int64_t columns, float* to) {
  const auto load = [&](int64_t row, int64_t c) HWY_ATTR {
    return row < rows ? load_row(from.row(row) + c) : hn::Zero(hn::ScalableTag<uint16_t>());
  };
  for (int64_t row = 0; row < padded_to_depth(rows); row += 2) {
    for (int64_t c = 0; c < columns; c += kDepthOfTile, to += kDepthOfTile) {
      store_unpacked(load(row, c), load(row + 1, c), to);
    }
  }
}

// Rows of a product whose right operand is of join_rows.
HWY_INLINE void round_joined(const float* from, int64_t rows, int64_t columns, MatrixView<BFloat16> to) {
  const FloatTag d;
  const hn::Repartition<uint64_t, FloatTag> fours;
  alignas(64) static constexpr uint64_t kOrder[8] = {0, 4, 1, 5, 2, 6, 3, 7};
  const auto order = hn::SetTableIndices(fours, kOrder);
  ask_for_next({to.data, to.stride}, rows, columns);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t c = 0; c < columns; c += kDepthOfTile, from += kDepthOfTile) {
      const auto rounded = BFloat16DotCells::join_neighbours(hn::LoadU(d, from), hn::LoadU(d, from + kTileSide));
      const auto ordered = hn::TableLookupLanes(hn::BitCast(fours, rounded), order);
      hn::StoreU(hn::BitCast(d, ordered), d, reinterpret_cast<float*>(to.row(row) + c));
    }
  }
}

// Left operand [rows, padded_to_depth(width) / 2] of numbers whose rows lie along the depth.
HWY_INLINE void round_cells(const float* from, int64_t rows, int64_t width, float* to) {
  const FloatTag d;
  for (int64_t row = 0; row < rows; ++row, from += width) {
    for (int64_t c = 0; c < width; c += kDepthOfTile, to += kTileSide) {
      const auto high = c + kTileSide < width ? hn::LoadU(d, from + c + kTileSide) : hn::Zero(d);
      hn::StoreU(BFloat16DotCells::join_neighbours(hn::LoadU(d, from + c), high), d, to);
    }
  }
}

// Left operand [width, padded_to_depth(rows) / 2] of numbers whose rows are the depth.
HWY_INLINE void round_transposed(const float* from, int64_t rows, int64_t width, float* joined, float* to) {
  const FloatTag d;
  const int64_t depth = padded_to_depth(rows) / 2;
  float* next = joined;
  for (int64_t row = 0; row < 2 * depth; row += 2, from += 2 * width) {
    for (int64_t c = 0; c < width; c += kTileSide, next += kTileSide) {
      const auto low = row < rows ? hn::LoadU(d, from + c) : hn::Zero(d);
      const auto high = row + 1 < rows ? hn::LoadU(d, from + width + c) : hn::Zero(d);
      hn::StoreU(BFloat16DotCells::join(low, high), d, next);
    }
  }
  transpose(joined, width, depth, width, to, depth);
}

// c (+)= a b.
struct TileProduct {
  const float* a;  // [rows, depth] cells
  int64_t a_row;
  const float* b;                // [depth, columns] cells
  float* c;                      // [rows, columns]
  int64_t rows, columns, depth;  // rows are computed in whole tiles; the others are multiples of their side
  bool accumulate = false;
};

template <class Tiles, int kDown, int kAcross>
HWY_INLINE void multiply_group(Tiles& tiles, const TileProduct& p, int64_t row, int64_t column) {
  constexpr std::make_integer_sequence<int, kDown * kAcross> kAll;
  float* const c = p.c + row * p.columns + column;
  for_each_sum<kAcross>(kAll, [&](auto down, auto across) HWY_ATTR {
    constexpr int kSum = down() * kAcross + across();
    if (p.accumulate) {
      tiles.template load<kSum>(c + (down() * p.columns + across()) * kTileSide, p.columns);
    } else {
      tiles.template zero<kSum>();
    }
  });
  for (int64_t k = 0; k < p.depth; k += kTileSide) {
    multiply_add_group<BFloat16Tiles<Tiles>, kDown, kAcross>(tiles, p.a + row * p.a_row + k, p.a_row,
                                                             p.b + k * p.columns + column, p.columns);
  }
  for_each_sum<kAcross>(kAll, [&](auto down, auto across) HWY_ATTR {
    tiles.template store<down() * kAcross + across()>(c + (down() * p.columns + across()) * kTileSide, p.columns);
  });
}

template <class Tiles>
HWY_INLINE void multiply(Tiles& tiles, const TileProduct& p) {
  for (int64_t row = 0; row < p.rows; row += 2 * kTileSide) {
    for (int64_t column = 0; column < p.columns; column += 2 * kTileSide) {
      const bool tall = p.rows - row > kTileSide, wide = p.columns - column > kTileSide;
      if (tall) {
        wide ? multiply_group<Tiles, 2, 2>(tiles, p, row, column) : multiply_group<Tiles, 2, 1>(tiles, p, row, column);
      } else {
        wide ? multiply_group<Tiles, 1, 2>(tiles, p, row, column) : multiply_group<Tiles, 1, 1>(tiles, p, row, column);
      }
    }
  }
}

// to [S, W] = K Q^T or V dContext^T, for the block's rows of `right`.
template <class Tiles>
HWY_INLINE void keys_times_queries(Tiles& tiles, const QueryBlock& block, const float* left,
                                   MatrixView<const BFloat16> right, int64_t width, float* transposed, float* to) {
  transpose_cells(right.part(block.begin, 0), block.rows(), width, transposed, block.width);
  multiply(tiles, {.a = left,
                   .a_row = width / 2,
                   .b = transposed,
                   .c = to,
                   .rows = block.n_keys,
                   .columns = block.width,
                   .depth = width / 2});
}

// to [T, width] = rounded(left)^T right: left [S, W] weights or dScores, right the joined rows of V or K.
template <class Tiles>
HWY_INLINE void weigh_keys(Tiles& tiles, const TileScratch& scratch, const QueryBlock& block, const float* left,
                           const float* right, int64_t width, MatrixView<BFloat16> to) {
  const int64_t depth = padded_to_depth(block.n_keys) / 2;
  round_transposed(left, block.n_keys, block.width, scratch.joined, scratch.left);
  multiply(tiles, {.a = scratch.left,
                   .a_row = depth,
                   .b = right,
                   .c = scratch.result,
                   .rows = block.rows(),
                   .columns = width,
                   .depth = depth});
  round_joined(scratch.result, block.rows(), width, to.part(block.begin, 0));
}

template <class Tiles>
void head_forward_in_tiles(Tiles& tiles, const HeadProblem& p, const HeadRows<const BFloat16>& in,
                           const TileScratch& scratch, MatrixView<BFloat16> context) {
  copy_cells(in.key, p.n_keys, p.d_head, scratch.keys);
  ask_for_next(in.value, p.n_keys, p.d_value);
  join_rows(in.value, p.n_keys, p.d_value, scratch.joined_values);
  for (int64_t begin = 0; begin < p.n_queries; begin += kQueryBlock) {
    const QueryBlock block = query_block(p, begin);
    keys_times_queries(tiles, block, scratch.keys, in.query, p.d_head, scratch.head.queries, scratch.head.weights);
    softmax_block(p, scratch.head, block);
    drop_weights(p, scratch.head, block);
    weigh_keys(tiles, scratch, block, scratch.head.weights, scratch.joined_values, p.d_value, context);
  }
}

// to [S, width] (+)= rounded(left) right: left [S, W] weights or dScores, right the block's rows of dContext or Q.
template <class Tiles>
HWY_INLINE void add_key_gradient(Tiles& tiles, const TileScratch& scratch, const QueryBlock& block, const float* left,
                                 MatrixView<const BFloat16> right, int64_t width, bool accumulate, float* to) {
  const int64_t depth = padded_to_depth(block.width) / 2;
  round_cells(left, block.n_keys, block.width, scratch.left);
  join_rows(right.part(block.begin, 0), block.rows(), width, scratch.joined);
  multiply(tiles, {.a = scratch.left,
                   .a_row = depth,
                   .b = scratch.joined,
                   .c = to,
                   .rows = block.n_keys,
                   .columns = width,
                   .depth = depth,
                   .accumulate = accumulate});
}

// Overwrites the gradients of all rows of the head; those of keys and values are those of a group, after its last head.
template <class Tiles>
void head_backward_in_tiles(Tiles& tiles, const HeadProblem& p, const HeadRows<const BFloat16>& in,
                            const TileScratch& scratch, MatrixView<const BFloat16> grad_context,
                            const HeadRows<BFloat16>& gradients) {
  // Of several blocks the first does not reach all keys, nor do none.
  const bool several = p.n_queries > kQueryBlock || p.n_queries == 0, accumulate = several || !p.is_first_of_group();
  if (several && p.is_first_of_group()) {
    std::fill_n(scratch.grad_key, padded_to_vectors(p.n_keys) * p.d_head, 0.0F);
    std::fill_n(scratch.grad_value, padded_to_vectors(p.n_keys) * p.d_value, 0.0F);
  }
  copy_cells(in.key, p.n_keys, p.d_head, scratch.keys);
  copy_cells(in.value, p.n_keys, p.d_value, scratch.values);
  join_rows(in.key, p.n_keys, p.d_head, scratch.joined_keys);
  for (int64_t begin = 0; begin < p.n_queries; begin += kQueryBlock) {
    const QueryBlock block = query_block(p, begin);
    const HeadScratch& head = scratch.head;
    keys_times_queries(tiles, block, scratch.keys, in.query, p.d_head, head.queries, head.weights);
    keys_times_queries(tiles, block, scratch.values, grad_context, p.d_value, head.grad_context, head.grad_weights);
    softmax_block_backward(p, head, block);
    add_key_gradient(tiles, scratch, block, head.weights, grad_context, p.d_value, accumulate, scratch.grad_value);
    add_key_gradient(tiles, scratch, block, head.grad_weights, in.query, p.d_head, accumulate, scratch.grad_key);
    weigh_keys(tiles, scratch, block, head.grad_weights, scratch.joined_keys, p.d_head, gradients.query);
  }
  if (p.is_last_of_group()) {
    round_joined(scratch.grad_key, p.n_keys, p.d_head, gradients.key);
    round_joined(scratch.grad_value, p.n_keys, p.d_value, gradients.value);
  }
}
#endif

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
