#include "decoding/search/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "kernels/cpu/output/top_k.h"
#include "kernels/cpu/simd/vector_math.h"

namespace dragoman::decoding {
namespace {

// A draw first finds its block, then its place there.
constexpr size_t kBlock = 64;

// kernels::top_k costs up to k steps for each number among the k largest so far; for more, ranking all of them costs
// less.
constexpr size_t kFew = 64;

// The colder, the less anything but the likeliest weighs; any colder would make 0 * infinity of the likeliest.
constexpr double kSharpest = 1e30;

// In float64, eight sums side by side and in a fixed order.
double sum_of(std::span<const float> weights) {
  std::array<double, 8> sums = {};
  size_t i = 0;
  for (; i + sums.size() <= weights.size(); i += sums.size()) {
    for (size_t lane = 0; lane < sums.size(); ++lane) {
      sums[lane] += static_cast<double>(weights[i + lane]);
    }
  }
  for (; i < weights.size(); ++i) {
    sums[0] += static_cast<double>(weights[i]);
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// The first index where the running sum exceeds `rest`; the last of positive weight when rounding leaves a rest.
template <typename Weights>
size_t index_at(const Weights& weights, double& rest) {
  size_t drawn = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto weight = static_cast<double>(weights[i]);
    if (weight > 0.0) {
      drawn = i;
      if (rest < weight) {
        break;
      }
      rest -= weight;
    }
  }
  return drawn;
}

}  // namespace

Sampler::Sampler(const SearchOptions& options)
    : sharpness_(static_cast<float>(std::min(1.0 / options.sampling.temperature, kSharpest))),
      top_k_(static_cast<size_t>(options.sampling.top_k)),
      top_p_(options.sampling.top_p),
      min_p_(static_cast<float>(options.sampling.min_p)) {}

int32_t Sampler::draw(std::span<const float> logits, double uniform) {
  const int32_t likeliest = kernels::argmax(logits.data(), static_cast<int64_t>(logits.size()));
  const float largest = logits[static_cast<size_t>(likeliest)];
  if (!std::isfinite(largest)) {
    return -1;
  }
  weights_.resize(logits.size());
  kernels::exp_weights(logits, largest, sharpness_, weights_);
  const bool cuts_at_k = top_k_ > 0 && top_k_ < logits.size();
  if (!cuts_at_k && top_p_ >= 1.0) {
    if (min_p_ > 0.0F) {
      std::ranges::replace_if(
          weights_, [&](float weight) { return weight < min_p_; }, 0.0F);
    }
    return static_cast<int32_t>(draw_index(weights_, uniform));
  }
  if (cuts_at_k) {
    keep_likeliest(logits, top_k_);
    keep_share(top_p_ * sum_of(kept_));
  } else {
    keep_nucleus(logits);
  }
  drop_improbable();
  return ids_[draw_index(kept_, uniform)];
}

// Of the kept, which fall; the likeliest of all weighs 1.
void Sampler::drop_improbable() {
  while (kept_.size() > 1 && kept_.back() < min_p_) {
    kept_.pop_back();
  }
}

// The fewest that reach p are looked for among few first. Else among all that can be of them: those below (1 - p) / V
// of the sum are at most 1 - p of it together, so that the others reach p without them.
void Sampler::keep_nucleus(std::span<const float> logits) {
  const double sum = sum_of(weights_);
  keep_likeliest(logits, std::min(kFew, logits.size()));
  if (sum_of(kept_) < top_p_ * sum) {
    const double least = (1.0 - top_p_) * sum / static_cast<double>(weights_.size());
    rank_from(static_cast<float>(least), weights_.size());
  }
  keep_share(top_p_ * sum);
}

void Sampler::keep_likeliest(std::span<const float> logits, size_t count) {
  if (count > kFew) {
    return rank_from(0.0F, count);
  }
  ids_.resize(count);
  kept_.resize(count);
  kernels::top_k(logits.data(), static_cast<int64_t>(logits.size()), static_cast<int>(count), kept_.data(),
                 ids_.data());
  std::ranges::transform(ids_, kept_.begin(), [&](int32_t id) { return weights_[static_cast<size_t>(id)]; });
}

// Keeps the `count` likeliest of at least this weight, or as many as there are.
void Sampler::rank_from(float least, size_t count) {
  ranked_.clear();
  for (size_t id = 0; id < weights_.size(); ++id) {
    if (weights_[id] >= least) {
      ranked_.push_back({weights_[id], static_cast<int32_t>(id)});
    }
  }
  const auto likelier = [](const Weighted& a, const Weighted& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
  };
  if (count < ranked_.size()) {
    std::ranges::nth_element(ranked_, ranked_.begin() + static_cast<ptrdiff_t>(count), likelier);
    ranked_.resize(count);
  }
  std::ranges::sort(ranked_, likelier);
  ids_.resize(ranked_.size());
  kept_.resize(ranked_.size());
  std::ranges::transform(ranked_, ids_.begin(), &Weighted::id);
  std::ranges::transform(ranked_, kept_.begin(), &Weighted::weight);
}

// Of the kept, the fewest that weigh `wanted` together.
void Sampler::keep_share(double wanted) {
  double reached = 0.0;
  size_t count = 0;
  while (count < kept_.size() && reached < wanted) {
    reached += static_cast<double>(kept_[count++]);
  }
  kept_.resize(count);
}

size_t Sampler::draw_index(std::span<const float> weights, double uniform) {
  sums_.clear();
  for (size_t begin = 0; begin < weights.size(); begin += kBlock) {
    sums_.push_back(sum_of(weights.subspan(begin, std::min(kBlock, weights.size() - begin))));
  }
  double rest = uniform * std::accumulate(sums_.begin(), sums_.end(), 0.0);
  const size_t begin = kBlock * index_at(sums_, rest);
  return begin + index_at(weights.subspan(begin, std::min(kBlock, weights.size() - begin)), rest);
}

}  // namespace dragoman::decoding
