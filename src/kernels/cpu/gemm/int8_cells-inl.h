// int8 operands of matrix products, for one instruction set. Include after highway.h, inside foreach_target. A cell is
// four int8 that are neighbours in k, the first in the lowest byte. Rows of A and columns of B are scaled so that their
// largest magnitude is 127. Sums of products are int32 and exact, so that every instruction set gives the same bits.

#include <hwy/highway.h>
#include <cstdint>

#if defined(DRAGOMAN_KERNELS_INT8_CELLS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_INT8_CELLS_INL_H_
#undef DRAGOMAN_KERNELS_INT8_CELLS_INL_H_
#else
#define DRAGOMAN_KERNELS_INT8_CELLS_INL_H_
#endif

#include "kernels/cpu/gemm/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using IntTag = hn::RebindToSigned<Tag>;
using IntVector = hn::Vec<IntTag>;

constexpr float kInt8Largest = 127.0F;  // so that a sign can be changed

template <int32_t kOffsetOfA>
struct Int8Sums {
  static constexpr int64_t kDepth = 4;
  static constexpr int64_t kMultiple = 1;
  static constexpr int64_t kParts = 1;
  static constexpr int32_t kOffset = kOffsetOfA;  // added to the elements of A, not to those of B

  using Sum = IntVector;
  static HWY_INLINE Sum zero() { return hn::Zero(IntTag()); }
  // The initial sums of a column cancel the contribution of the offset.
  static HWY_INLINE Sum start(const TileArguments& tile, int64_t column) {
    return kOffset == 0 ? zero() : hn::LoadU(IntTag(), tile.column_starts + column);
  }
  static HWY_INLINE Sum load(const float* sums) { return hn::LoadU(IntTag(), reinterpret_cast<const int32_t*>(sums)); }

  // sum * (scale of the row * scale of the column)
  static HWY_INLINE Vector value(Sum sum, const TileArguments& tile, int64_t row, int64_t column) {
    return hn::Mul(hn::ConvertTo(Tag(), sum), scale(tile, row, column));
  }
  // Adds an addend to the value, rounded once.
  static HWY_INLINE Vector plus(Sum sum, const TileArguments& tile, int64_t row, int64_t column, Vector addend) {
    return hn::MulAdd(hn::ConvertTo(Tag(), sum), scale(tile, row, column), addend);
  }

 private:
  static HWY_INLINE Vector scale(const TileArguments& tile, int64_t row, int64_t column) {
    const Tag d;
    return hn::Mul(hn::Set(d, tile.row_scales[tile.first_row + row]), hn::LoadU(d, tile.column_scales + column));
  }
};

// For any processor: widened to int16, whose products x86 adds two by two, exactly in int32; elsewhere to int32.
struct Int8Cells : Int8Sums<0> {
  static HWY_INLINE Sum multiply_add(Vector a, Vector b, Sum sum) {
    if constexpr (HWY_ARCH_X86) {
      Sum unused = hn::Zero(IntTag());
      sum = hn::ReorderWidenMulAccumulate(IntTag(), even(a), even(b), sum, unused);
      return hn::ReorderWidenMulAccumulate(IntTag(), odd(a), odd(b), sum, unused);
    } else {  // where that operation adds up other lanes
      sum = hn::Add(sum, hn::Mul(byte<0>(a), byte<0>(b)));
      sum = hn::Add(sum, hn::Mul(byte<1>(a), byte<1>(b)));
      sum = hn::Add(sum, hn::Mul(byte<2>(a), byte<2>(b)));
      return hn::Add(sum, hn::Mul(byte<3>(a), byte<3>(b)));
    }
  }

 private:
  template <int kPlace>
  static HWY_INLINE Sum byte(Vector cells) {
    return hn::ShiftRight<24>(hn::ShiftLeft<24 - 8 * kPlace>(hn::BitCast(IntTag(), cells)));
  }
  using ShortTag = hn::Repartition<int16_t, Tag>;
  static HWY_INLINE hn::Vec<ShortTag> even(Vector cells) {
    return hn::ShiftRight<8>(hn::ShiftLeft<8>(hn::BitCast(ShortTag(), cells)));
  }
  static HWY_INLINE hn::Vec<ShortTag> odd(Vector cells) { return hn::ShiftRight<8>(hn::BitCast(ShortTag(), cells)); }
};

#if HWY_TARGET == HWY_AVX3
// By the instruction of AVX-512 VNNI, whose first operand is unsigned. Assembly for the reason of BFloat16DotCells.
struct Int8DotCells : Int8Sums<128> {
  static HWY_INLINE Sum multiply_add(Vector a, Vector b, Sum sum) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
    return sum;
  }
};
#else
using Int8DotCells = Int8Cells;
#endif

template <class Cells>
concept IsInt8 = requires {
  Cells::kOffset;
};

HWY_INLINE float largest_magnitude(const float* x, int64_t size) {
  const Tag d;
  Vector largest[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};  // each waits for itself alone
  int64_t i = 0;
  for (; i + 4 * kLanes <= size; i += 4 * kLanes) {
    for (int64_t v = 0; v < 4; ++v) {
      largest[v] = hn::Max(largest[v], hn::Abs(hn::LoadU(d, x + i + v * kLanes)));
    }
  }
  for (; i < size; i += kLanes) {
    const auto inside = hn::FirstN(d, static_cast<size_t>(size - i));
    largest[0] = hn::Max(largest[0], hn::Abs(hn::MaskedLoad(inside, d, x + i)));
  }
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(largest[0], largest[1]), hn::Max(largest[2], largest[3]))));
}

// Quantizes `depth` floats of a row to int8, in `row_cells` cells (a multiple of kLanes / 4). Cells beyond are 0.
template <class Cells>
HWY_INLINE void quantise_row(const float* x, int64_t depth, float inverse_scale, int64_t row_cells, float* cells) {
  const Tag d;
  const hn::Rebind<int8_t, Tag> bytes;
  auto* to = reinterpret_cast<int8_t*>(cells);
  const auto factor = hn::Set(d, inverse_scale);
  for (int64_t i = 0; i < row_cells * 4; i += kLanes) {
    const int64_t left = depth - i;
    const auto inside = hn::FirstN(d, static_cast<size_t>(left > 0 ? left : 0));
    const Vector part = left >= kLanes ? hn::LoadU(d, x + i)
                        : left > 0     ? hn::MaskedLoad(inside, d, x + i)
                                       : hn::Zero(d);
    auto values = hn::NearestInt(hn::Mul(part, factor));
    if constexpr (Cells::kOffset != 0) {
      values = hn::Xor(hn::And(values, hn::Set(IntTag(), 0xFF)), hn::Set(IntTag(), 0x80));  // + 128, as a byte
      const hn::Rebind<uint8_t, Tag> unsigned_bytes;
      hn::StoreU(hn::DemoteTo(unsigned_bytes, values), unsigned_bytes, reinterpret_cast<uint8_t*>(to) + i);
    } else {
      hn::StoreU(hn::DemoteTo(bytes, values), bytes, to + i);
    }
  }
}

// The outputs of packing a panel of int8, besides its cells.
struct Int8Columns {
  float* scales;    // [width]
  int32_t* starts;  // [width] -offset * the sum of the column
};

// Packs columns [0, columns) of B [depth, columns], kLanes at a time; `width` cells between packed rows.
template <class Cells>
HWY_INLINE void pack_int8_columns(const float* b, int64_t stride, int64_t depth, int64_t columns, int64_t width,
                                  float* packed, const Int8Columns& made) {
  const Tag d;
  const auto inside = hn::FirstN(d, static_cast<size_t>(columns));
  Vector largest = hn::Zero(d);
  for (int64_t k = 0; k < depth; ++k) {
    largest = hn::Max(largest, hn::Abs(hn::MaskedLoad(inside, d, b + k * stride)));
  }
  const Vector scale = hn::Div(largest, hn::Set(d, kInt8Largest));
  const Vector inverse_scale = hn::IfThenElseZero(hn::Gt(scale, hn::Zero(d)), hn::Div(hn::Set(d, 1.0F), scale));
  IntVector sum = hn::Zero(IntTag());
  const auto values = [&](int64_t k) HWY_ATTR {
    const Vector row = k < depth ? hn::MaskedLoad(inside, d, b + k * stride) : hn::Zero(d);
    const IntVector value = hn::NearestInt(hn::Mul(row, inverse_scale));
    sum = hn::Add(sum, value);
    return hn::And(value, hn::Set(IntTag(), 0xFF));
  };
  const int64_t cells = cells_of<Cells>(depth);
  for (int64_t cell = 0; cell < cells; ++cell) {
    const int64_t k = cell * Cells::kDepth;
    IntVector joined = values(k);
    joined = hn::Or(joined, hn::ShiftLeft<8>(values(k + 1)));
    joined = hn::Or(joined, hn::ShiftLeft<16>(values(k + 2)));
    joined = hn::Or(joined, hn::ShiftLeft<24>(values(k + 3)));
    hn::StoreU(hn::BitCast(d, joined), d, packed + cell * width);
  }
  hn::StoreU(scale, d, made.scales);
  hn::StoreU(hn::Mul(sum, hn::Set(IntTag(), -Cells::kOffset)), IntTag(), made.starts);
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
