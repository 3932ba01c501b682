#include "training/weight_average.h"

#include <algorithm>

#include "kernels/cpu/simd/vector_math.h"

namespace dragoman::training {

WeightAverage::WeightAverage(nn::ParameterSet& parameters, double decay) : parameters_(parameters), decay_(decay) {
  if (decay > 0.0) {
    average_ = parameters.values().clone();
  }
}

void WeightAverage::update(int64_t updates) {
  if (is_on()) {
    const double count = static_cast<double>(updates);
    const double decay = std::min(decay_, (1.0 + count) / (10.0 + count));
    kernels::ema_update(average_.span<float>(), parameters_.values().span<float>(), decay);
  }
}

void WeightAverage::swap() {
  if (is_on()) {
    std::ranges::swap_ranges(average_.span<float>(), parameters_.mutable_values().span<float>());
  }
}

}  // namespace dragoman::training
