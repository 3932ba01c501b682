#pragma once

#include <cstdint>

namespace dragoman::evaluation {

/// The generator of numpy.random.default_rng(seed) with equal numbers. With it a bootstrap draws the sentences that
/// sacreBLEU draws, and prints an equal interval. All other code uses base::Random.
/// Source: O'Neill 2014, PCG XSL-RR 128/64; seeding by numpy's SeedSequence (NEP 19).
class NumpyRandom {
 public:
  explicit NumpyRandom(uint64_t seed);

  /// Returns a uniform number in [0, bound), as Generator.integers(0, bound). Requires: 1 <= bound < 2^32.
  /// Source: Lemire 2019, "Fast random integer generation in an interval", algorithm 5.
  uint32_t below(uint32_t bound);

 private:
  __extension__ using Uint128 = unsigned __int128;

  void advance();
  uint64_t next_u64();
  uint32_t next_u32();  // the lower 32 bits of a 64-bit draw, then the upper ones

  Uint128 state_ = 0;
  Uint128 increment_ = 0;
  uint32_t upper_half_ = 0;
  bool has_upper_half_ = false;
};

}  // namespace dragoman::evaluation
