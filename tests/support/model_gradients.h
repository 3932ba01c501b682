#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "autograd/variable.h"
#include "base/random.h"
#include "nn/parameters.h"

namespace dragoman::test_support {

/// Compares the gradient of a loss by backward with central differences, in float64, at `probes` random elements of
/// each parameter. Fails naming parameter and element unless |analytic - numeric| <= tolerance(numeric). Requires: the
/// parameters are float64, and have gradient buffers. A parameter that no gradient reached has the gradient 0.
inline void expect_gradients_match(nn::ParameterSet& parameters, const std::function<autograd::Variable()>& loss_of,
                                   int probes, const std::function<double(double numeric)>& tolerance) {
  {
    autograd::Tape tape;
    const autograd::TapeScope recording(&tape);
    tape.backward(loss_of());
  }
  parameters.complete_gradients();
  base::Random random(11);
  for (const auto& parameter : parameters.parameters()) {
    tensor::Tensor values = parameter->variable.value();
    for (int probe = 0; probe < probes; ++probe) {
      const auto index = static_cast<int64_t>(random.below(static_cast<uint64_t>(values.size())));
      double& value = values.data<double>()[index];
      const double original = value, width = 1e-5;
      value = original + width;
      const double above = loss_of().value().item();
      value = original - width;
      const double below = loss_of().value().item();
      value = original;
      const double numeric = (above - below) / (2 * width);
      const double analytic = parameter->variable.has_grad() ? parameter->variable.grad().data<double>()[index] : 0.0;
      EXPECT_NEAR(analytic, numeric, tolerance(numeric)) << parameter->path << " element " << index;
    }
  }
}

}  // namespace dragoman::test_support
