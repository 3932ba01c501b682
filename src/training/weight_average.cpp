#include "training/weight_average.h"

#include <algorithm>

#include "kernels/backends/backend_of.h"
#include "tensor/transfer.h"

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
    kernels::backend_of(average_).ema_update(average_, parameters_.values(), decay);
  }
}

void WeightAverage::swap() {
  if (is_on()) {
    tensor::swap_elements(average_, parameters_.mutable_values());
  }
}

}  // namespace dragoman::training
