#include "ops/gemm_cpu.h"

#include "ops/simd.h"
#include "tensor/tensor.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/gemm_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/gemm_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops {
namespace HWY_NAMESPACE {
namespace {

// Blocks as in Goto and van de Geijn 2008: of B, columns x kDepthBlock packed in the third-level cache; of A,
// kRowBlock x kDepthBlock in the second.
constexpr int64_t kRowBlock = 128 / kTileRows * kTileRows;
constexpr int64_t kColumnBlock = 2112 / kPanelColumns * kPanelColumns;

struct Block {
  int64_t column, columns;
  int64_t depth_begin, depth;
};

int64_t packed_columns(int64_t columns) {
  return (columns + kLanes - 1) / kLanes * kLanes;
}

int64_t columns_floats(const GemmArguments& product) {
  return packed_columns(std::min(product.columns, kColumnBlock)) * std::min(product.depth, kDepthBlock);
}

int64_t rows_floats(const GemmArguments& product) {
  return product.a_transposed ? kRowBlock * std::min(product.depth, kDepthBlock) : 0;
}

void pack_columns_transposed(const GemmArguments& product, const Block& block, float* packed) {
  for (int64_t column = 0; column < block.columns; column += kPanelColumns) {
    const int64_t columns = std::min(block.columns - column, kPanelColumns);
    const float* rows = product.b + (block.column + column) * product.b_stride + block.depth_begin;
    pack_panel_transposed(rows, product.b_stride, block.depth, columns, packed + column * block.depth);
  }
}

// A few rows of B at a time, each read from end to end.
void pack_columns(const GemmArguments& product, const Block& block, float* packed) {
  constexpr int64_t kChunk = 8;
  for (int64_t k = 0; k < block.depth; k += kChunk) {
    const float* rows = product.b + (block.depth_begin + k) * product.b_stride + block.column;
    for (int64_t column = 0; column < block.columns; column += kPanelColumns) {
      const int64_t columns = std::min(block.columns - column, kPanelColumns);
      pack_panel(rows + column, product.b_stride, std::min(kChunk, block.depth - k), columns,
                 packed + column * block.depth + k * panel_width(columns));
    }
  }
}

// Rows [row, row + rows) of C, columns of the block.
void multiply_rows(const GemmArguments& product, const Block& block, const float* panels, TileArguments tile,
                   int64_t rows) {
  float* c = tile.c;
  const float* bias = tile.bias;
  for (int64_t column = 0; column < block.columns; column += kPanelColumns) {
    tile.columns = std::min(block.columns - column, kPanelColumns);
    tile.panel = panels + column * block.depth;
    tile.c = c + column;
    tile.bias = bias == nullptr ? nullptr : bias + column;
    const int64_t width = panel_width(tile.columns);
    product.a_transposed ? multiply_panel_packed_rows(tile, rows, width) : multiply_panel(tile, rows, width);
  }
}

void multiply_block(const GemmArguments& product, const Block& block, const float* panels, float* packed_rows,
                    bool accumulate) {
  const bool last = block.depth_begin + block.depth == product.depth;
  for (int64_t row = 0; row < product.rows; row += kRowBlock) {
    const int64_t rows = std::min(product.rows - row, kRowBlock);
    TileArguments tile{product.a + row * product.a_stride + block.depth_begin,
                       product.a_stride,
                       1,
                       nullptr,
                       block.depth,
                       product.c + row * product.c_stride + block.column,
                       product.c_stride,
                       0,
                       product.bias != nullptr && last ? product.bias + block.column : nullptr,
                       accumulate};
    if (product.a_transposed) {
      const float* from = product.a + block.depth_begin * product.a_stride + row;
      pack_rows_transposed(from, product.a_stride, block.depth, rows, packed_rows);
      tile.a = packed_rows;
      tile.a_row = 1;
      tile.a_depth = kTileRows;
    }
    multiply_rows(product, block, panels, tile, rows);
  }
}

void run_gemm(const GemmArguments& product, bool accumulate) {
  using tensor::Tensor;
  Tensor scratch = Tensor::empty({columns_floats(product) + rows_floats(product)});
  float* panels = scratch.data<float>();
  float* packed_rows = panels + columns_floats(product);
  for (int64_t column = 0; column < product.columns; column += kColumnBlock) {
    for (int64_t depth = 0; depth < product.depth; depth += kDepthBlock) {
      const Block block{column, std::min(product.columns - column, kColumnBlock), depth,
                        std::min(product.depth - depth, kDepthBlock)};
      product.b_transposed ? pack_columns_transposed(product, block, panels) : pack_columns(product, block, panels);
      multiply_block(product, block, panels, packed_rows, accumulate || depth > 0);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace dragoman::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::ops {

HWY_EXPORT(run_gemm);

void gemm_float32(const GemmArguments& product) {
  DRAGOMAN_DISPATCH(run_gemm)(product, false);
}

void gemm_float32_accumulate(const GemmArguments& product) {
  DRAGOMAN_DISPATCH(run_gemm)(product, true);
}

}  // namespace dragoman::ops
#endif
