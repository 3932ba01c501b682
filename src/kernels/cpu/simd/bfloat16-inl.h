// bfloat16 in memory as vectors of float32, for one instruction set. Include after highway.h, inside foreach_target.
#if defined(DRAGOMAN_KERNELS_BFLOAT16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_BFLOAT16_INL_H_
#undef DRAGOMAN_KERNELS_BFLOAT16_INL_H_
#else
#define DRAGOMAN_KERNELS_BFLOAT16_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "tensor/dtype.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using tensor::BFloat16;

/// Returns: a vector of bfloat16, each in the lower half of a 32-bit lane.
HWY_INLINE hn::Vec<hn::ScalableTag<uint32_t>> load_bfloat16(const BFloat16* from) {
  const hn::ScalableTag<uint32_t> bits;
  const hn::Rebind<uint16_t, decltype(bits)> words;
  return hn::PromoteTo(bits, hn::LoadU(words, reinterpret_cast<const uint16_t*>(from)));
}

HWY_INLINE hn::Vec<hn::ScalableTag<float>> load_widened(const BFloat16* from) {
  return hn::BitCast(hn::ScalableTag<float>(), hn::ShiftLeft<16>(load_bfloat16(from)));
}

using BFloat16Vector = hn::Vec<hn::ScalableTag<uint16_t>>;

/// Returns: a vector of bfloat16 as stored, with twice as many elements as a vector of floats.
HWY_INLINE BFloat16Vector load_row(const BFloat16* from) {
  return hn::LoadU(hn::ScalableTag<uint16_t>(), reinterpret_cast<const uint16_t*>(from));
}

/// Stores pairs of the elements of two rows, one pair for each column. The pairs of the lower halves of all blocks of 8
/// columns come first, then the pairs of the upper halves. This takes one instruction each; column order takes three.
HWY_INLINE void store_unpacked(BFloat16Vector first, BFloat16Vector second, float* to) {
  const hn::ScalableTag<uint16_t> words;
  const hn::ScalableTag<float> d;
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(words, first, second)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(words, first, second)), d, to + hn::MaxLanes(d));
}

/// Returns: lanes whose upper halves are x rounded to nearest, ties to even. NaN stays NaN with any payload.
HWY_INLINE hn::Vec<hn::ScalableTag<uint32_t>> rounded_bits(hn::Vec<hn::ScalableTag<float>> x) {
  const hn::ScalableTag<uint32_t> bits;
  const auto raw = hn::BitCast(bits, x);
  const auto odd = hn::And(hn::ShiftRight<16>(raw), hn::Set(bits, 1U));
  const auto nearest = hn::Add(hn::Add(raw, hn::Set(bits, 0x7FFFU)), odd);
  const auto quiet = hn::Or(raw, hn::Set(bits, 0x00400000U));
  return hn::IfThenElse(hn::RebindMask(bits, hn::IsNaN(x)), quiet, nearest);
}

HWY_INLINE void store_rounded(hn::Vec<hn::ScalableTag<float>> x, BFloat16* to) {
  const hn::Rebind<uint16_t, hn::ScalableTag<uint32_t>> words;
  hn::StoreU(hn::TruncateTo(words, hn::ShiftRight<16>(rounded_bits(x))), words, reinterpret_cast<uint16_t*>(to));
}

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
