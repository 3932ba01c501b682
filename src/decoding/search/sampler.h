#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "decoding/search/options.h"

namespace dragoman::decoding {

/// Draws a token from softmax(logits / temperature), cut to the sampling_top_k likeliest, then to the fewest likeliest
/// that reach sampling_top_p together, then to those of at least sampling_min_p times the probability of the likeliest;
/// what is left is renormalised. This is the order of transformers. Ties are cut by the lower id. Holds only memory
/// that it uses again; not safe for two threads at once.
class Sampler {
 public:
  explicit Sampler(const SearchOptions& options);
  /// @param logits  [V], V >= 1, no NaN; minus infinity = impossible;  @param uniform  in [0, 1)
  /// @return a token, or -1 when none is possible
  int32_t draw(std::span<const float> logits, double uniform);

 private:
  struct Weighted {
    float weight;
    int32_t id;
  };
  void keep_nucleus(std::span<const float> logits);
  void keep_likeliest(std::span<const float> logits, size_t count);
  void keep_share(double wanted);
  void drop_improbable();
  void rank_from(float least, size_t count);
  size_t draw_index(std::span<const float> weights, double uniform);

  float sharpness_;  // 1 / temperature
  size_t top_k_;
  double top_p_;
  float min_p_;
  std::vector<float> weights_;    // [V] in proportion to the probabilities, that of the likeliest is 1
  std::vector<int32_t> ids_;      // the likeliest first
  std::vector<float> kept_;       // their weights, of as many as are kept
  std::vector<Weighted> ranked_;  // kept for its memory, as are those below
  std::vector<double> sums_;      // of blocks of weights
};

}  // namespace dragoman::decoding
