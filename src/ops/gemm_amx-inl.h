// Tiles of a bfloat16 matrix product in the tile registers of AMX. Include after highway.h, inside foreach_target.
// A is packed row by row, B in the panels of gemm_tile-inl.h, both padded with zeros to whole tiles of 16 cells of
// depth. Every element of C is a chain over k of the same instructions, whatever the tile it falls into and the number
// of rows.

#include <hwy/highway.h>
#include <algorithm>
#include <array>
#include <cstdint>

#if defined(DRAGOMAN_OPS_GEMM_AMX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_OPS_GEMM_AMX_INL_H_
#undef DRAGOMAN_OPS_GEMM_AMX_INL_H_
#else
#define DRAGOMAN_OPS_GEMM_AMX_INL_H_
#endif

#include "ops/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3
constexpr int kTileSide = 16;       // rows of a tile register, and cells of 32 bits in a row
constexpr int kTilesDown = 2;       // of C at a time
constexpr int kATile = 6, kBTile = 7;  // registers; those below hold sums
static_assert(kTilesDown * kTileVectors <= kATile && kLanes == kTileSide && kRowBlock % (kTilesDown * kTileSide) == 0);

// The eight tile registers of this thread, all of 16 rows of 64 bytes, while this object lives. Assembly, because
// intrinsics would need a target attribute on every function they are inlined into.
class HardwareTiles {
 public:
  HardwareTiles() {
    alignas(64) struct {
      uint8_t palette = 1, start_row = 0, reserved[14] = {};
      uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } const configuration;
    asm volatile("ldtilecfg %0" : : "m"(configuration));
  }
  ~HardwareTiles() { asm volatile("tilerelease"); }
  HardwareTiles(const HardwareTiles&) = delete;
  HardwareTiles& operator=(const HardwareTiles&) = delete;

  template <int kTile>
  HWY_INLINE void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  // Rows of 16 cells, `stride` cells apart.
  template <int kTile>
  HWY_INLINE void load(const float* rows, int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(rows), "r"(stride * 4), "i"(kTile) : "memory");
  }
  template <int kTile>
  HWY_INLINE void store(float* rows, int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(rows), "r"(stride * 4), "i"(kTile) : "memory");
  }
  // sum += A B
  template <int kSum>
  HWY_INLINE void multiply_add() {
    asm volatile("tdpbf16ps %%tmm%c0, %%tmm%c1, %%tmm%c2" : : "i"(kBTile), "i"(kATile), "i"(kSum));
  }
};

// The same in memory, for tests on processors without AMX.
class SoftwareTiles {
 public:
  template <int kTile>
  void zero() {
    tiles_[kTile] = {};
  }
  template <int kTile>
  void load(const float* rows, int64_t stride) {
    for (int r = 0; r < kTileSide; ++r) {
      std::copy_n(rows + r * stride, kTileSide, tiles_[kTile][r].begin());
    }
  }
  template <int kTile>
  void store(float* rows, int64_t stride) {
    for (int r = 0; r < kTileSide; ++r) {
      std::copy_n(tiles_[kTile][r].begin(), kTileSide, rows + r * stride);
    }
  }
  template <int kSum>
  void multiply_add() {
    const Tag d;
    for (int r = 0; r < kTileSide; ++r) {
      Vector sum = hn::LoadU(d, tiles_[kSum][r].data());
      for (int k = 0; k < kTileSide; ++k) {
        sum = BFloat16Cells::multiply_add(hn::Set(d, tiles_[kATile][r][k]), hn::LoadU(d, tiles_[kBTile][k].data()), sum);
      }
      hn::StoreU(sum, d, tiles_[kSum][r].data());
    }
  }

 private:
  using Tile = std::array<std::array<float, kTileSide>, kTileSide>;
  std::array<Tile, 8> tiles_;
};

// sums [kDown * 16, kVectors * 16] = A B for a panel of kVectors * 16 columns.
template <int kDown, int kVectors, class Tiles>
HWY_INLINE void multiply_tiles(Tiles& tiles, const TileArguments& tile, float* sums) {
  constexpr int64_t kWidth = kVectors * kTileSide;
  const auto for_each_sum = [&]<int... kSums>(std::integer_sequence<int, kSums...>, const auto& function) {
    (function(std::integral_constant<int, kSums>()), ...);
  };
  constexpr std::make_integer_sequence<int, kDown * kVectors> kAll;
  for_each_sum(kAll, [&](auto sum) { tiles.template zero<sum()>(); });
  for (int64_t k = 0; k < tile.depth; k += kTileSide) {
    for_each_sum(kAll, [&](auto sum) {
      constexpr int kRow = sum() / kVectors, kColumn = sum() % kVectors;
      if constexpr (kColumn == 0) {
        tiles.template load<kATile>(tile.a + kRow * kTileSide * tile.a_row + k, tile.a_row);
      }
      tiles.template load<kBTile>(tile.panel + k * kWidth + kColumn * kTileSide, kWidth);
      tiles.template multiply_add<sum()>();
    });
  }
  for_each_sum(kAll, [&](auto sum) {
    tiles.template store<sum()>(sums + sum() / kVectors * kTileSide * kWidth + sum() % kVectors * kTileSide, kWidth);
  });
}

// C (+)= sums + bias for `rows` rows, `width` sums apart.
HWY_INLINE void store_sums(const TileArguments& tile, const float* sums, int64_t rows, int64_t width) {
  const Tag d;
  for (int64_t r = 0; r < rows; ++r, sums += width) {
    float* row = tile.c + r * tile.c_row;
    for (int64_t j = 0; j < tile.columns; j += kLanes) {
      const auto inside = hn::FirstN(d, static_cast<size_t>(std::min(tile.columns - j, kLanes)));
      Vector sum = hn::LoadU(d, sums + j);
      sum = tile.accumulate ? hn::Add(hn::MaskedLoad(inside, d, row + j), sum) : sum;
      sum = tile.bias != nullptr ? hn::Add(sum, hn::MaskedLoad(inside, d, tile.bias + j)) : sum;
      hn::BlendedStore(sum, inside, d, row + j);
    }
  }
}

template <int kVectors, class Tiles>
HWY_INLINE void multiply_panel_of_vectors(Tiles& tiles, TileArguments tile, int64_t rows) {
  alignas(64) float sums[kTilesDown * kTileSide * kVectors * kTileSide];
  while (rows > 0) {
    const int64_t count = std::min<int64_t>(rows, kTilesDown * kTileSide);
    if (count > kTileSide) {
      multiply_tiles<kTilesDown, kVectors>(tiles, tile, sums);
    } else {
      multiply_tiles<1, kVectors>(tiles, tile, sums);
    }
    store_sums(tile, sums, count, kVectors * kTileSide);
    tile.a += count * tile.a_row;
    tile.c += count * tile.c_row;
    rows -= count;
  }
}

// One panel times `rows` rows of A, packed row by row with room for whole tiles; `tile` describes the first row.
template <class Tiles>
HWY_INLINE void multiply_panel_of_tiles(Tiles& tiles, const TileArguments& tile, int64_t rows, int64_t width) {
  switch (width / kLanes) {
    case 1:
      return multiply_panel_of_vectors<1>(tiles, tile, rows);
    case 2:
      return multiply_panel_of_vectors<2>(tiles, tile, rows);
    default:
      return multiply_panel_of_vectors<kTileVectors>(tiles, tile, rows);
  }
}

// Packed as by the instructions of AVX-512 BF16, which every processor with AMX has.
struct AmxCells : BFloat16DotCells {
  static constexpr int64_t kMultiple = kTileSide;
  using Tiles = HardwareTiles;
};

struct EmulatedAmxCells : BFloat16DotCells {
  static constexpr int64_t kMultiple = kTileSide;
  using Tiles = SoftwareTiles;
};
#else
using AmxCells = BFloat16Cells;
using EmulatedAmxCells = BFloat16Cells;
#endif

template <class Cells>
concept InTiles = requires { typename Cells::Tiles; };

// Calls `function` with the format that `kernel` multiplies.
template <class Function>
HWY_INLINE void with_cells_of(ProductKernel kernel, const Function& function) {
  switch (kernel) {
    case ProductKernel::kFloat32:
      return function(Float32Cells());
    case ProductKernel::kBFloat16Widened:
      return function(BFloat16Cells());
    case ProductKernel::kBFloat16Dot:
      return function(BFloat16DotCells());
    case ProductKernel::kBFloat16Amx:
      return function(AmxCells());
    case ProductKernel::kBFloat16EmulatedAmx:
      return function(EmulatedAmxCells());
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::ops
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
