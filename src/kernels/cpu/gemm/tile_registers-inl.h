// The tile registers of AMX, and the same in memory, for one instruction set. Include after highway.h, inside
// foreach_target. A tile is 16 rows of 16 cells of 32 bits (gemm_cells-inl.h).

#include <hwy/highway.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#if defined(DRAGOMAN_KERNELS_TILE_REGISTERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_TILE_REGISTERS_INL_H_
#undef DRAGOMAN_KERNELS_TILE_REGISTERS_INL_H_
#else
#define DRAGOMAN_KERNELS_TILE_REGISTERS_INL_H_
#endif

#include "kernels/cpu/gemm/gemm_cells-inl.h"
#include "kernels/cpu/gemm/int8_cells-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3
constexpr int kTileSide = 16;          // rows of a tile register, and cells of 32 bits in a row
constexpr int kATile = 6, kBTile = 7;  // registers; those below hold sums

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
  HWY_INLINE void multiply_add_bfloat16() {
    asm volatile("tdpbf16ps %%tmm%c0, %%tmm%c1, %%tmm%c2" : : "i"(kBTile), "i"(kATile), "i"(kSum));
  }
  template <int kSum>
  HWY_INLINE void multiply_add_int8() {
    asm volatile("tdpbssd %%tmm%c0, %%tmm%c1, %%tmm%c2" : : "i"(kBTile), "i"(kATile), "i"(kSum));
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
  // As Intel's manual has it: the tile's own sums begin with zeros, those of first and second numbers apart.
  template <int kSum>
  void multiply_add_bfloat16() {
    const Tag d;
    for_each_row_of<kSum>([&](const float* a, float* sums) HWY_ATTR {
      Vector firsts = hn::Zero(d), seconds = hn::Zero(d);
      for (int k = 0; k < kTileSide; ++k) {
        BFloat16Cells::multiply_add_apart(hn::Set(d, a[k]), hn::LoadU(d, tiles_[kBTile][k].data()), firsts, seconds);
      }
      hn::StoreU(hn::Add(hn::LoadU(d, sums), hn::Add(firsts, seconds)), d, sums);
    });
  }
  template <int kSum>
  void multiply_add_int8() {
    const Tag d;
    for_each_row_of<kSum>([&](const float* a, float* sums) HWY_ATTR {
      auto sum = Int8Cells::load(sums);
      for (int k = 0; k < kTileSide; ++k) {
        sum = Int8Cells::multiply_add(hn::Set(d, a[k]), hn::LoadU(d, tiles_[kBTile][k].data()), sum);
      }
      hn::StoreU(hn::BitCast(d, sum), d, sums);
    });
  }

 private:
  template <int kSum, class Function>
  void for_each_row_of(const Function& function) {
    for (int r = 0; r < kTileSide; ++r) {
      function(tiles_[kATile][r].data(), tiles_[kSum][r].data());
    }
  }

  using Tile = std::array<std::array<float, kTileSide>, kTileSide>;
  std::array<Tile, 8> tiles_;
};

// What is multiplied as bfloat16.
template <class TileRegisters>
struct BFloat16Tiles {
  using Tiles = TileRegisters;
  template <int kSum>
  static HWY_INLINE void multiply_add_tiles(Tiles& tiles) {
    tiles.template multiply_add_bfloat16<kSum>();
  }
};

// Calls function(row, column) with std::integral_constants for all tiles of a group of sums, row by row.
template <int kVectors, int... kSums, class Function>
HWY_INLINE void for_each_sum(std::integer_sequence<int, kSums...>, const Function& function) {
  (function(std::integral_constant<int, kSums / kVectors>(), std::integral_constant<int, kSums % kVectors>()), ...);
}

// Adds the product of kDown tiles of A, the first at `a`, and kVectors tiles of B, the first at `b`, to the sums. Rows
// of cells are a_row and b_row apart.
template <class Cells, int kDown, int kVectors>
HWY_INLINE void multiply_add_group(typename Cells::Tiles& tiles, const float* a, int64_t a_row, const float* b,
                                   int64_t b_row) {
  for_each_sum<kVectors>(std::make_integer_sequence<int, kDown * kVectors>(), [&](auto row, auto place) HWY_ATTR {
    // Odd rows go from right to left, so that they begin with the tile of B that is there.
    constexpr int kColumn = row() % 2 == 0 ? place() : kVectors - 1 - place();
    if constexpr (place() == 0) {
      tiles.template load<kATile>(a + row() * kTileSide * a_row, a_row);
    }
    if constexpr (row() == 0 || place() > 0) {
      tiles.template load<kBTile>(b + kColumn * kTileSide, b_row);
    }
    Cells::template multiply_add_tiles<row() * kVectors + kColumn>(tiles);
  });
}
#else
using HardwareTiles = void;
using SoftwareTiles = void;
#endif

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
