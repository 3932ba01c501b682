#include "evaluation/numpy_random.h"

#include <array>
#include <bit>
#include <cstddef>

namespace dragoman::evaluation {
namespace {

// numpy's SeedSequence: spreads the seed over a pool of four words, then stretches the pool to any length.
class SeedSequence {
 public:
  explicit SeedSequence(uint64_t seed) {
    const std::array<uint32_t, 4> entropy = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32), 0, 0};
    uint32_t multiplier = 0x43B0D7E5;
    for (size_t i = 0; i < pool_.size(); ++i) {
      pool_[i] = hash(entropy[i], multiplier, 0x931E8875);
    }
    for (size_t from = 0; from < pool_.size(); ++from) {
      for (size_t to = 0; to < pool_.size(); ++to) {
        if (from != to) {
          pool_[to] = mix(pool_[to], hash(pool_[from], multiplier, 0x931E8875));
        }
      }
    }
  }

  // Eight words as four 64-bit numbers, the low word of each first.
  std::array<uint64_t, 4> state() const {
    std::array<uint64_t, 4> result{};
    uint32_t multiplier = 0x8B51F9DD;
    for (size_t i = 0; i < 2 * result.size(); ++i) {
      const uint64_t word = hash(pool_[i % pool_.size()], multiplier, 0x58F38DED);
      result[i / 2] |= word << (32 * (i % 2));
    }
    return result;
  }

 private:
  static uint32_t hash(uint32_t value, uint32_t& multiplier, uint32_t step) {
    value ^= multiplier;
    multiplier *= step;
    value *= multiplier;
    return value ^ value >> 16;
  }

  static uint32_t mix(uint32_t x, uint32_t y) {
    const uint32_t mixed = x * 0xCA01F9DD - y * 0x4973F715;
    return mixed ^ mixed >> 16;
  }

  std::array<uint32_t, 4> pool_{};
};

}  // namespace

NumpyRandom::NumpyRandom(uint64_t seed) {
  const std::array<uint64_t, 4> words = SeedSequence(seed).state();
  increment_ = (Uint128{words[2]} << 64 | words[3]) << 1 | 1;
  advance();
  state_ += Uint128{words[0]} << 64 | words[1];
  advance();
}

void NumpyRandom::advance() {
  constexpr Uint128 kMultiplier = Uint128{0x2360ED051FC65DA4ULL} << 64 | 0x4385DF649FCCF645ULL;
  state_ = state_ * kMultiplier + increment_;
}

uint64_t NumpyRandom::next_u64() {
  advance();
  const auto folded = static_cast<uint64_t>(state_ >> 64) ^ static_cast<uint64_t>(state_);
  return std::rotr(folded, static_cast<int>(state_ >> 122));
}

uint32_t NumpyRandom::next_u32() {
  if (has_upper_half_) {
    has_upper_half_ = false;
    return upper_half_;
  }
  const uint64_t drawn = next_u64();
  upper_half_ = static_cast<uint32_t>(drawn >> 32);
  has_upper_half_ = true;
  return static_cast<uint32_t>(drawn);
}

uint32_t NumpyRandom::below(uint32_t bound) {
  if (bound <= 1) {
    return 0;  // numpy draws nothing here
  }
  uint64_t product = uint64_t{next_u32()} * bound;
  if (static_cast<uint32_t>(product) < bound) {
    const uint32_t threshold = (0U - bound) % bound;
    while (static_cast<uint32_t>(product) < threshold) {
      product = uint64_t{next_u32()} * bound;
    }
  }
  return static_cast<uint32_t>(product >> 32);
}

}  // namespace dragoman::evaluation
