#pragma once

#include <array>
#include <cstdint>

namespace dragoman::base {

/// Philox4x32-10: a counter-based generator. The same (key, counter) gives the same four words on every machine,
/// thread and device, so a dropout mask is regenerated in the backward instead of stored.
/// Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"; constants from its Random123 code.
/// @return four independent uniform 32-bit words.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// A stream of uniform numbers drawn from Philox: `Random(seed, stream)` always yields the same sequence.
/// Cheap to make: give each purpose (shuffle of epoch 3, initial value of one tensor) its own stream.
/// Not safe for use from two threads at once.
class Random {
 public:
  explicit Random(uint64_t seed, uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  uint32_t next_u32();
  uint64_t next_u64();
  /// Uniform in [0, bound), without modulo bias (Lemire 2019). bound >= 1.
  uint64_t below(uint64_t bound);
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  /// Normal with mean 0 and standard deviation 1 (Box-Muller).
  double normal();

 private:
  uint64_t seed_;
  uint64_t stream_;
  uint64_t block_ = 0;
  std::array<uint32_t, 4> words_{};
  int used_ = 4;
};

/// Fisher-Yates shuffle of [first, last) driven by `random`; the same everywhere, unlike std::shuffle.
template <typename Iterator>
void shuffle(Iterator first, Iterator last, Random& random) {
  for (auto left = last - first; left > 1; --left) {
    const auto pick = static_cast<decltype(left)>(random.below(static_cast<uint64_t>(left)));
    using std::swap;
    swap(first[left - 1], first[pick]);
  }
}

}  // namespace dragoman::base
