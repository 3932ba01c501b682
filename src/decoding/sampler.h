#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "decoding/options.h"

namespace dragoman::decoding {

/// Draws a token from softmax(logits / temperature), cut to the sampling_top_k likeliest, then to the fewest likeliest
/// that reach sampling_top_p together; what is left is renormalised. Ties are cut by the lower id. Holds only memory
/// that it uses again; not safe for two threads at once.
class Sampler {
 public:
  explicit Sampler(const SearchOptions& options);
  /// @param logits  [V]; minus infinity = impossible;  @param uniform  in [0, 1)
  /// @return a token, or -1 when none is possible
  int32_t draw(std::span<const float> logits, double uniform);

 private:
  struct Weighted {
    int32_t id;
    double weight;  // proportional to the probability
  };
  static bool likelier(const Weighted& a, const Weighted& b);  // ties to the lower id
  void collect(std::span<const float> logits);
  void keep_top_k();
  void keep_top_p();

  double temperature_;
  size_t top_k_;
  double top_p_;
  std::vector<Weighted> kept_;
};

}  // namespace dragoman::decoding
