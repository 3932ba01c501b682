// The cells that the tiles of a matrix product multiply, for one instruction set. Include after highway.h, inside
// foreach_target. Operands are packed as cells of 32 bits: one float32, or two bfloat16 that are neighbours in k, the
// first in the lower half, or four int8 (int8_cells-inl.h). A format defines the number of k in a cell, how cells are
// made from float32, how a product of cells joins a sum, and the value of a sum. Tiles, panels and blocks are shared by
// all formats. Packed depths are padded with zeros to groups of kMultiple cells. A format of several parts has kParts
// such groups for the same k, one after the other.

#include <hwy/highway.h>
#include <cstdint>
#include <type_traits>

#if defined(DRAGOMAN_KERNELS_GEMM_CELLS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_GEMM_CELLS_INL_H_
#undef DRAGOMAN_KERNELS_GEMM_CELLS_INL_H_
#else
#define DRAGOMAN_KERNELS_GEMM_CELLS_INL_H_
#endif

#include "kernels/cpu/simd/bfloat16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

constexpr int64_t kLanes = HWY_MAX_BYTES / sizeof(float);

struct TileArguments;

// Sums that are the elements of the product.
struct FloatSums {
  static constexpr int64_t kParts = 1;
  using Sum = Vector;
  static HWY_INLINE Sum zero() { return hn::Zero(Tag()); }
  static HWY_INLINE Sum start(const TileArguments& /*tile*/, int64_t /*column*/) { return zero(); }
  static HWY_INLINE Sum load(const float* sums) { return hn::LoadU(Tag(), sums); }
  static HWY_INLINE Vector value(Sum sum, const TileArguments& /*tile*/, int64_t /*row*/, int64_t /*column*/) {
    return sum;
  }
  // value(...) + addend
  static HWY_INLINE Vector plus(Sum sum, const TileArguments& /*tile*/, int64_t /*row*/, int64_t /*column*/,
                                Vector addend) {
    return hn::Add(sum, addend);
  }
};

struct Float32Cells : FloatSums {
  static constexpr int64_t kDepth = 1;  // k of one cell
  static constexpr int64_t kMultiple = 1;
  static HWY_INLINE Vector multiply_add(Vector a, Vector b, Vector sum) { return hn::MulAdd(a, b, sum); }
};

// bfloat16 on processors that cannot multiply it: widened to float32, two fused multiply-adds a cell.
struct BFloat16Cells : FloatSums {
  static constexpr int64_t kDepth = 2;
  static constexpr int64_t kMultiple = 1;

  static HWY_INLINE Vector multiply_add(Vector a, Vector b, Vector sum) {
    return hn::MulAdd(second(a), second(b), hn::MulAdd(first(a), first(b), sum));
  }

  // Adds to one sum for the first numbers of cells, and to another for the second numbers.
  static HWY_INLINE void multiply_add_apart(Vector a, Vector b, Vector& firsts, Vector& seconds) {
    firsts = hn::MulAdd(first(a), first(b), firsts);
    seconds = hn::MulAdd(second(a), second(b), seconds);
  }

  // Joins lanes: lane i holds low[i] in its lower half and high[i] in its upper half, rounded to nearest even.
  static HWY_INLINE Vector join(Vector low, Vector high) {
    const Tag d;
    const hn::RebindToUnsigned<Tag> bits;
    const auto upper = hn::Set(bits, 0xFFFF0000U);
    return hn::BitCast(d, hn::Or(hn::ShiftRight<16>(rounded_bits(low)), hn::And(rounded_bits(high), upper)));
  }

  // Joins the 2 * kLanes consecutive floats of `low` and `high` into kLanes cells.
  static HWY_INLINE Vector join_neighbours(Vector low, Vector high) {
    const Tag d;
    return join(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low));
  }

  // Stores kLanes numbers, rounded as by join.
  static HWY_INLINE void store_bfloat16(Vector x, BFloat16* to) { store_rounded(x, to); }

 private:
  static HWY_INLINE Vector first(Vector cells) {
    const hn::RebindToUnsigned<Tag> bits;
    return hn::BitCast(Tag(), hn::ShiftLeft<16>(hn::BitCast(bits, cells)));
  }
  static HWY_INLINE Vector second(Vector cells) {
    const hn::RebindToUnsigned<Tag> bits;
    return hn::BitCast(Tag(), hn::And(hn::BitCast(bits, cells), hn::Set(bits, 0xFFFF0000U)));
  }
};

#if HWY_TARGET == HWY_AVX3
// bfloat16 by the instructions of AVX-512 BF16, which Highway 1.0.3 does not know; intrinsics would need a target
// attribute on every function they are inlined into. Denormal operands count as zero, denormal sums become zero.
struct BFloat16DotCells : FloatSums {
  static constexpr int64_t kDepth = 2;
  static constexpr int64_t kMultiple = 1;

  static HWY_INLINE Vector multiply_add(Vector a, Vector b, Vector sum) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(b.raw), "v"(a.raw));
    return sum;
  }

  static HWY_INLINE Vector join_neighbours(Vector low, Vector high) {
    Vector cells;
    asm("vcvtne2ps2bf16 %1, %2, %0" : "=v"(cells.raw) : "v"(low.raw), "v"(high.raw));
    return cells;
  }

  static HWY_INLINE Vector join(Vector low, Vector high) {
    const hn::RebindToUnsigned<Tag> bits;
    // The conversion gives all of low, then all of high; lane i takes words i and 32 / 2 + i.
    alignas(64) static constexpr uint16_t kOrder[32] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                                        8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    const auto order = hn::Load(bits, reinterpret_cast<const uint32_t*>(kOrder));
    Vector words = join_neighbours(low, high);
    asm("vpermw %1, %2, %0" : "=v"(words.raw) : "v"(words.raw), "v"(order.raw));
    return words;
  }

  static HWY_INLINE void store_bfloat16(Vector x, BFloat16* to) {
    const hn::Half<Tag> half;
    hn::StoreU(hn::LowerHalf(half, join_neighbours(x, hn::Zero(Tag()))), half, reinterpret_cast<float*>(to));
  }
};
#else
using BFloat16DotCells = BFloat16Cells;
#endif

// float32 as the sum of three bfloat16, for tile registers, which multiply no wider numbers:
//   x = part 0 + part 1 + part 2,   |part 1| <= 2^-8 |x|,  |part 2| <= 2^-17 |x|
// exactly, since 24 bits are three times 8. Of the nine products of parts of a and b, six are summed. The other
// three are together below 2^-23 of a b, which is what float32 rounds off (Henry, Tang and Heinecke 2019, "Leveraging
// the bfloat16 artificial intelligence datatype for higher-precision computations", arXiv 1904.06376). The rest of a
// part below 2^-126 is lost. Infinity becomes NaN, and so do numbers above 3.39e38, which bfloat16 rounds to infinity.
struct SplitFloat32Cells : FloatSums {
  static constexpr int64_t kDepth = 2;
  static constexpr int64_t kMultiple = 16;
  static constexpr int64_t kParts = 3;
  static constexpr struct {
    int left, right;
  } kProducts[] = {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};  // of parts, in the order in which they are summed

  // Stores lanes of low[i] and, in the upper half, high[i], part after part, `distance` apart.
  static HWY_INLINE void store_joined(Vector low, Vector high, float* to, int64_t distance) {
    for (int part = 0; part + 1 < kParts; ++part, to += distance) {
      const Vector near_low = nearest(low), near_high = nearest(high);
      store_upper_words(near_low, near_high, to);
      low = hn::Sub(low, near_low);
      high = hn::Sub(high, near_high);
    }
    store_upper_words(low, high, to);
  }

  // Stores the 2 * kLanes consecutive floats of `low` and `high` likewise.
  static HWY_INLINE void store_neighbours(Vector low, Vector high, float* to, int64_t distance) {
    const Tag d;
    store_joined(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low), to, distance);
  }

 private:
  using Bits = hn::RebindToUnsigned<Tag>;

  // The nearest bfloat16; ties away from zero.
  static HWY_INLINE Vector nearest(Vector x) {
    const Bits bits;
    const auto raised = hn::Add(hn::BitCast(bits, x), hn::Set(bits, 0x8000U));
    return hn::BitCast(Tag(), hn::And(raised, hn::Set(bits, 0xFFFF0000U)));
  }
  static HWY_INLINE void store_upper_words(Vector low, Vector high, float* to) {
    const Bits bits;
    const hn::Repartition<uint16_t, Tag> words;
    const auto lower = hn::ShiftRight<16>(hn::BitCast(bits, low));
    hn::StoreU(hn::BitCast(Tag(), hn::OddEven(hn::BitCast(words, high), hn::BitCast(words, lower))), Tag(), to);
  }
};

// Cells that hold bfloat16 as it is stored.
template <class Cells>
concept HoldsBFloat16 = Cells::kDepth == 2 && Cells::kParts == 1;

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
