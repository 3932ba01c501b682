// Included once per instruction set from files that Highway compiles several times; hence no #pragma once.
#if defined(DRAGOMAN_KERNELS_DROPOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_KERNELS_DROPOUT_INL_H_
#undef DRAGOMAN_KERNELS_DROPOUT_INL_H_
#else
#define DRAGOMAN_KERNELS_DROPOUT_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "kernels/cpu/simd/row_math-inl.h"
#include "kernels/dropout_mask.h"
#include "kernels/types.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Word64Tag = hn::ScalableTag<uint64_t>;
using Word64 = hn::Vec<Word64Tag>;

// Philox counters, one block a 64-bit lane; only the lower half of each lane counts, the upper holds left-overs that
// no later step reads.
struct PhiloxBlocks {
  Word64 word0, word1, word2, word3;
};

HWY_INLINE Word64 lower_product(Word64 a, Word64 factor) {
  const hn::Repartition<uint32_t, Word64Tag> halves;
  return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, factor));
}

HWY_INLINE PhiloxBlocks philox_round(PhiloxBlocks blocks, uint32_t key0, uint32_t key1) {
  const Word64Tag d;
  const Word64 product0 = lower_product(blocks.word0, hn::Set(d, 0xD2511F53));
  const Word64 product1 = lower_product(blocks.word2, hn::Set(d, 0xCD9E8D57));
  return {hn::Xor(hn::Xor(hn::ShiftRight<32>(product1), blocks.word1), hn::Set(d, key0)), product1,
          hn::Xor(hn::Xor(hn::ShiftRight<32>(product0), blocks.word3), hn::Set(d, key1)), product0};
}

// base::philox4x32 on every lane of two sets of blocks: the products of one hide the latency of the other's.
HWY_INLINE void philox(PhiloxBlocks& first, PhiloxBlocks& second, uint64_t seed) {
  PhiloxBlocks a = first, b = second;  // in registers
  auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9, key1 += 0xBB67AE85) {
    a = philox_round(a, key0, key1);
    b = philox_round(b, key0, key1);
  }
  first = a;
  second = b;
}

constexpr int64_t kBlocksOfSet = HWY_MAX_BYTES / sizeof(uint64_t);
constexpr int64_t kColumnsOfSet = 8 * kBlocksOfSet;

// Block numbers of the lanes relative to the first, so that interleaving 128-bit pieces leaves them in order.
HWY_INLINE Word64 block_numbers() {
  alignas(HWY_MAX_BYTES) std::array<uint64_t, kBlocksOfSet> numbers;
  for (size_t lane = 0; lane < numbers.size(); ++lane) {
    numbers[lane] = lane / 2 + lane % 2 * (kBlocksOfSet / 2);
  }
  return hn::Load(Word64Tag(), numbers.data());
}

// Bit i of `bits`: half-word i is not below the threshold.
HWY_INLINE void store_kept(Word64 half_words, uint32_t threshold, uint8_t* bits) {
  const hn::Repartition<uint16_t, Word64Tag> d;
  const auto words = hn::BitCast(d, half_words);
  const auto kept = hn::Eq(hn::Max(words, hn::Set(d, static_cast<uint16_t>(threshold))), words);
  hn::StoreMaskBits(d, kept, bits);
}

HWY_INLINE void store_kept(const PhiloxBlocks& random, uint32_t threshold, uint8_t* bits) {
  const Word64Tag d;
  const Word64 low = hn::Set(d, 0xFFFFFFFF);
  const Word64 words01 = hn::Or(hn::And(random.word0, low), hn::ShiftLeft<32>(random.word1));
  const Word64 words23 = hn::Or(hn::And(random.word2, low), hn::ShiftLeft<32>(random.word3));
  store_kept(hn::InterleaveLower(d, words01, words23), threshold, bits);
  store_kept(hn::InterleaveUpper(d, words01, words23), threshold, bits + kColumnsOfSet / 16);
}

/// Returns: the number of bytes that kept_bits_of_row writes for rows of this width.
constexpr int64_t kept_bytes(int64_t columns) {
  return (columns + 2 * kColumnsOfSet - 1) / (2 * kColumnsOfSet) * (2 * kColumnsOfSet / 8);
}

/// Writes the mask of one row: bit c of `bits` is set if column c is kept.
HWY_INLINE void kept_bits_of_row(const Dropout& dropout, uint32_t threshold, int64_t row, int64_t columns,
                                 uint8_t* bits) {
  const Word64Tag d;
  const Word64 rows = hn::Set(d, static_cast<uint32_t>(dropout.first_row + row));
  const Word64 site = hn::Set(d, dropout.site), step = hn::Set(d, dropout.step);
  Word64 numbers = block_numbers();
  for (int64_t c = 0; c < columns; c += 2 * kColumnsOfSet, bits += 2 * kColumnsOfSet / 8) {
    const Word64 later = hn::Add(numbers, hn::Set(d, kBlocksOfSet));
    PhiloxBlocks first{numbers, rows, site, step}, second{later, rows, site, step};
    philox(first, second, dropout.seed);
    store_kept(first, threshold, bits);
    store_kept(second, threshold, bits + kColumnsOfSet / 8);
    numbers = hn::Add(later, hn::Set(d, kBlocksOfSet));
  }
}

/// Generates the dropout masks of the rows of one matrix, one row at a time.
class RowMasks {
 public:
  RowMasks(const Dropout& dropout, int64_t columns)
      : dropout_(dropout),
        columns_(columns),
        threshold_(dropout_threshold(dropout)),
        scale_(static_cast<float>(dropout_scale(dropout))),
        memory_(Tensor::empty({kept_bytes(columns)}, tensor::DType::kInt8)),
        bits_(static_cast<uint8_t*>(memory_.raw_data())) {}

  /// Generates the mask of this row and discards the previous mask.
  HWY_INLINE void make(int64_t row) { kept_bits_of_row(dropout_, threshold_, row, columns_, bits_); }

  /// Returns: the factors of the columns from c on. Requires: c is a multiple of the number of lanes.
  HWY_INLINE RowVector factors(int64_t c) const {
    const RowTag d;
    return hn::IfThenElseZero(kept(c), hn::Set(d, scale_));
  }

 private:
  HWY_INLINE hn::Mask<RowTag> kept(int64_t c) const {
    const RowTag d;
    if constexpr (hn::MaxLanes(d) >= 8) {
      return hn::LoadMaskBits(d, bits_ + c / 8);
    } else {  // a byte has the bits of several vectors
      const uint8_t bits[8] = {static_cast<uint8_t>(bits_[c / 8] >> (c % 8))};
      return hn::LoadMaskBits(d, bits);
    }
  }

  const Dropout& dropout_;
  int64_t columns_;
  uint32_t threshold_;
  float scale_;
  Tensor memory_;
  uint8_t* bits_;
};

}  // namespace dragoman::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
