#include "decoding/sampler.h"

#include <algorithm>
#include <cmath>

namespace dragoman::decoding {

Sampler::Sampler(const SearchOptions& options)
    : temperature_(options.sampling_temperature),
      top_k_(static_cast<size_t>(options.sampling_top_k)),
      top_p_(options.sampling_top_p) {}

int32_t Sampler::draw(std::span<const float> logits, double uniform) {
  collect(logits);
  if (top_k_ > 0 && top_k_ < kept_.size()) {
    keep_top_k();
  }
  if (top_p_ < 1.0) {
    keep_top_p();
  }
  double sum = 0.0;
  for (const Weighted& token : kept_) {
    sum += token.weight;
  }
  double rest = uniform * sum;
  int32_t drawn = -1;
  for (const Weighted& token : kept_) {
    if (token.weight > 0.0) {
      drawn = token.id;
      rest -= token.weight;
      if (rest < 0.0) {
        break;
      }
    }
  }
  return drawn;  // the last possible one when rounding leaves a rest
}

void Sampler::collect(std::span<const float> logits) {
  kept_.clear();
  const float largest = logits.empty() ? 0.0F : *std::ranges::max_element(logits);
  if (!std::isfinite(largest)) {
    return;
  }
  for (size_t id = 0; id < logits.size(); ++id) {
    if (std::isfinite(logits[id])) {
      const double below = static_cast<double>(logits[id]) - static_cast<double>(largest);
      kept_.push_back({static_cast<int32_t>(id), std::exp(below / temperature_)});
    }
  }
}

bool Sampler::likelier(const Weighted& a, const Weighted& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
}

void Sampler::keep_top_k() {
  std::nth_element(kept_.begin(), kept_.begin() + static_cast<ptrdiff_t>(top_k_) - 1, kept_.end(), likelier);
  kept_.resize(top_k_);
  std::ranges::sort(kept_, likelier);  // nth_element leaves an order that is not the same everywhere
}

void Sampler::keep_top_p() {
  std::ranges::sort(kept_, likelier);
  double sum = 0.0;
  for (const Weighted& token : kept_) {
    sum += token.weight;
  }
  double reached = 0.0;
  size_t count = 0;
  while (count < kept_.size() && reached < top_p_ * sum) {
    reached += kept_[count++].weight;
  }
  kept_.resize(count);
}

}  // namespace dragoman::decoding
