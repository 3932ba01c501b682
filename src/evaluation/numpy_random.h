#pragma once

#include <cstdint>

namespace dragoman::evaluation {

/// The generator behind numpy.random.default_rng(seed), number for number, so that a bootstrap picks the same
/// sentences as sacreBLEU's and prints the same interval. For nothing else: dragoman's own generator is base::Random.
/// Source: O'Neill 2014, PCG XSL-RR 128/64; seeding by numpy's SeedSequence (NEP 19).
class NumpyRandom {
 public:
  explicit NumpyRandom(uint64_t seed);

  /// Uniform in [0, bound), as Generator.integers(0, bound) draws it. 1 <= bound < 2^32.
  /// Source: Lemire 2019, "Fast random integer generation in an interval", algorithm 5.
  uint32_t below(uint32_t bound);

 private:
  __extension__ using Uint128 = unsigned __int128;

  void advance();
  uint64_t next_u64();
  uint32_t next_u32();  // both halves of a 64-bit draw are used, the lower one first

  Uint128 state_ = 0;
  Uint128 increment_ = 0;
  uint32_t upper_half_ = 0;
  bool has_upper_half_ = false;
};

}  // namespace dragoman::evaluation
