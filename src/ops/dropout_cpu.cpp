#include <array>

#include "ops/dropout.h"
#include "ops/dropout_mask.h"
#include "ops/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/dropout_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/row_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::ops::HWY_NAMESPACE {
namespace {

using Word64Tag = hn::ScalableTag<uint64_t>;
using Word64 = hn::Vec<Word64Tag>;

// Philox counters, one block a 64-bit lane; only the lower half of each lane counts, the upper holds left-overs that
// no later step reads.
struct Blocks {
  Word64 word0, word1, word2, word3;
};

HWY_INLINE Word64 lower_product(Word64 a, Word64 factor) {
  const hn::Repartition<uint32_t, Word64Tag> halves;
  return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, factor));
}

// base::philox4x32 on every lane.
HWY_INLINE Blocks philox(Blocks blocks, uint64_t seed) {
  const Word64Tag d;
  const Word64 multiplier0 = hn::Set(d, 0xD2511F53), multiplier1 = hn::Set(d, 0xCD9E8D57);
  auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9, key1 += 0xBB67AE85) {
    const Word64 product0 = lower_product(blocks.word0, multiplier0);
    const Word64 product1 = lower_product(blocks.word2, multiplier1);
    blocks = {hn::Xor(hn::Xor(hn::ShiftRight<32>(product1), blocks.word1), hn::Set(d, key0)), product1,
              hn::Xor(hn::Xor(hn::ShiftRight<32>(product0), blocks.word3), hn::Set(d, key1)), product0};
  }
  return blocks;
}

constexpr int64_t kBlocksAtOnce = HWY_MAX_BYTES / sizeof(uint64_t);
constexpr int64_t kHalfWordsAtOnce = 8 * kBlocksAtOnce;

// Block numbers of the lanes relative to the first, so that interleaving 128-bit pieces leaves them in order.
HWY_INLINE Word64 block_numbers() {
  alignas(HWY_MAX_BYTES) std::array<uint64_t, kBlocksAtOnce> numbers;
  for (size_t lane = 0; lane < numbers.size(); ++lane) {
    numbers[lane] = lane / 2 + lane % 2 * (kBlocksAtOnce / 2);
  }
  return hn::Load(Word64Tag(), numbers.data());
}

// The half-words of columns 8 * block .. 8 * block + kHalfWordsAtOnce - 1 of a row.
HWY_INLINE void random_half_words(const Dropout& dropout, uint32_t row, int64_t block, uint16_t* half_words) {
  const Word64Tag d;
  const Word64 low = hn::Set(d, 0xFFFFFFFF);
  const Word64 columns = hn::Add(block_numbers(), hn::Set(d, static_cast<uint64_t>(block)));
  const Blocks random =
      philox({columns, hn::Set(d, row), hn::Set(d, dropout.site), hn::Set(d, dropout.step)}, dropout.seed);
  const Word64 words01 = hn::Or(hn::And(random.word0, low), hn::ShiftLeft<32>(random.word1));
  const Word64 words23 = hn::Or(hn::And(random.word2, low), hn::ShiftLeft<32>(random.word3));
  auto* words = reinterpret_cast<uint64_t*>(half_words);
  hn::StoreU(hn::InterleaveLower(d, words01, words23), d, words);
  hn::StoreU(hn::InterleaveUpper(d, words01, words23), d, words + kBlocksAtOnce);
}

HWY_INLINE RowVector scales_of(const uint16_t* half_words, uint32_t threshold, float scale) {
  const RowTag d;
  const hn::RebindToSigned<RowTag> integers;
  const hn::Rebind<uint16_t, RowTag> narrow;
  const auto words = hn::PromoteTo(integers, hn::LoadU(narrow, half_words));
  const auto dropped = hn::Lt(words, hn::Set(integers, static_cast<int32_t>(threshold)));
  return hn::IfThenZeroElse(hn::RebindMask(d, dropped), hn::Set(d, scale));
}

void fill_row_scales(const Dropout& dropout, int64_t row, int64_t columns, float* scales) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const uint32_t threshold = dropout_threshold(dropout);
  const auto scale = static_cast<float>(dropout_scale(dropout));
  const auto counter_row = static_cast<uint32_t>(dropout.first_row + row);
  alignas(HWY_MAX_BYTES) std::array<uint16_t, kHalfWordsAtOnce> half_words;
  for (int64_t begin = 0; begin < columns; begin += kHalfWordsAtOnce) {
    random_half_words(dropout, counter_row, begin / 8, half_words.data());
    const int64_t count = std::min(columns - begin, kHalfWordsAtOnce);
    int64_t c = 0;
    for (; c + lanes <= count; c += lanes) {
      hn::StoreU(scales_of(half_words.data() + c, threshold, scale), d, scales + begin + c);
    }
    if (c < count) {
      const auto mask = hn::FirstN(d, static_cast<size_t>(count - c));
      hn::BlendedStore(scales_of(half_words.data() + c, threshold, scale), mask, d, scales + begin + c);
    }
  }
}

void drop_rows(const Tensor& x, const Dropout& dropout, Tensor& y) {
  const int64_t columns = x.dim(1);
  Tensor scratch = Tensor::empty({columns});
  float* scales = scratch.data<float>();
  for (int64_t row = 0; row < x.dim(0); ++row) {
    fill_row_scales(dropout, row, columns, scales);
    map_two_rows(x.data<float>() + row * x.stride(0), scales, columns, y.data<float>() + row * y.stride(0),
                 [](RowVector value, RowVector scale) HWY_ATTR { return hn::Mul(value, scale); });
  }
}

}  // namespace
}  // namespace dragoman::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::ops {

HWY_EXPORT(fill_row_scales);
HWY_EXPORT(drop_rows);

void dropout_row_scales(const Dropout& dropout, int64_t row, int64_t columns, float* scales) {
  DRAGOMAN_DISPATCH(fill_row_scales)(dropout, row, columns, scales);
}

void dropout_rows(const Tensor& x, const Dropout& dropout, Tensor& y) {
  DRAGOMAN_DISPATCH(drop_rows)(x, dropout, y);
}

}  // namespace dragoman::ops
#endif
