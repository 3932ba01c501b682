#pragma once

#include <array>
#include <cstdint>

namespace dragoman::base {

/// Returns four independent uniform 32-bit words of the counter-based generator Philox4x32-10. Equal keys and counters
/// give equal words on every machine, thread and device. So the backward regenerates a dropout mask instead of storing
/// it. Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"; constants from its Random123 code.
[[nodiscard]] std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// A stream of random numbers from Philox. Equal seeds and streams give equal sequences. Construction is cheap, so each
/// purpose, such as the shuffle of epoch 3 or the initial values of one tensor, has its own stream.
/// Threads: one thread at a time.
class Random {
 public:
  explicit Random(uint64_t seed, uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  uint32_t next_u32();
  uint64_t next_u64();
  /// Returns a uniform number in [0, bound), without modulo bias. Requires: bound >= 1.
  /// Source: Lemire 2019, "Fast random integer generation in an interval".
  uint64_t below(uint64_t bound);
  /// Returns a uniform number in [0, 1) with 53 random bits.
  double uniform();
  /// Returns a normally distributed number with mean 0 and standard deviation 1 (Box-Muller transform).
  double normal();

 private:
  uint64_t seed_;
  uint64_t stream_;
  uint64_t block_ = 0;
  std::array<uint32_t, 4> words_{};
  int used_ = 4;
};

/// Permutes [first, last) at random by the Fisher-Yates shuffle. Unlike std::shuffle, the result depends on `random`
/// alone and not on the standard library.
template <typename Iterator>
void shuffle(Iterator first, Iterator last, Random& random) {
  for (auto left = last - first; left > 1; --left) {
    const auto pick = static_cast<decltype(left)>(random.below(static_cast<uint64_t>(left)));
    using std::swap;
    swap(first[left - 1], first[pick]);
  }
}

}  // namespace dragoman::base
