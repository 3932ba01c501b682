#include "kernels/cpu/simd/vector_math.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "support/tensors.h"

namespace dragoman::kernels {
namespace {

using tensor::DType;
using test_support::random_tensor;

constexpr int64_t kSizes[] = {0, 1, 7, 8, 31, 33, 64, 300, 1000};

std::vector<float> random_floats(int64_t count, uint64_t seed) {
  return random_tensor({count}, DType::kFloat32, seed).to_vector<float>();
}

TEST(VectorMath, SumOfSquaresIsThatOfFloat64) {
  for (const int64_t size : kSizes) {
    const std::vector<float> x = random_floats(size, 1);
    double expected = 0;
    for (const float value : x) {
      expected += static_cast<double>(value) * value;
    }
    EXPECT_NEAR(sum_of_squares(x), expected, 1e-13 * static_cast<double>(size)) << size << " elements";
  }
  EXPECT_EQ(sum_of_squares(std::vector<float>(100, 3e38F)), 100 * std::pow(static_cast<double>(3e38F), 2));
}

TEST(VectorMath, ExpWeightsAreThoseOfFloat64) {
  for (const int64_t size : kSizes) {
    std::vector<float> x = random_floats(size, 1);
    if (size > 1) {
      x[1] = -std::numeric_limits<float>::infinity();
    }
    for (const float factor : {0.01F, 1.0F, 7.5F, 1e30F}) {
      const float shift = x.empty() ? 0.0F : std::ranges::max(x);
      std::vector<float> weights(x.size());
      exp_weights(x, shift, factor, weights);
      for (size_t i = 0; i < x.size(); ++i) {
        const double power = (static_cast<double>(x[i]) - shift) * factor;
        const double expected = power < -87 ? 0.0 : std::exp(power);
        ASSERT_NEAR(weights[i], expected, 1e-6 * expected + 1e-37)
            << "entry " << i << " of " << size << ", factor " << factor;
      }
      std::vector<float> in_place = x;
      exp_weights(in_place, shift, factor, in_place);
      EXPECT_EQ(in_place, weights) << size << " elements, factor " << factor;
    }
  }
}

// log((1 / M) sum_m p_m) in float64.
double log_mean_of(const std::vector<std::vector<float>>& logits, const std::vector<double>& normalisers, size_t v) {
  double sum = 0.0;
  for (size_t m = 0; m < logits.size(); ++m) {
    sum += std::exp(static_cast<double>(logits[m][v]) - normalisers[m]);
  }
  return std::log(sum / static_cast<double>(logits.size()));
}

TEST(VectorMath, LogMeanExpIsThatOfFloat64) {
  constexpr float kImpossible = -std::numeric_limits<float>::infinity();
  for (const int64_t size : {1, 7, 8, 31, 33, 64, 300, 1000}) {
    for (const size_t n_members : {1, 2, 3, 5}) {
      std::vector<std::vector<float>> logits;
      std::vector<double> normalisers;
      for (size_t m = 0; m < n_members; ++m) {
        logits.push_back(random_floats(size, 10 * m + 1));
        scale_in_place(logits.back(), 20.0F);
        logits.back()[0] += 25.0F;  // a likely one
        if (size > 5) {
          logits.back()[3] = kImpossible;
          logits.back()[4] = m == 0 ? 1.0F : kImpossible;
          logits.back()[5] = -300.0F;  // its probability is no float
        }
        double sum = 0.0;
        for (const float logit : logits.back()) {
          sum += std::exp(static_cast<double>(logit));
        }
        normalisers.push_back(std::log(sum));
      }
      const std::vector<std::span<const float>> rows(logits.begin(), logits.end());
      std::vector<float> mean(static_cast<size_t>(size));
      log_mean_exp(rows, normalisers, mean);
      for (size_t v = 0; v < mean.size(); ++v) {
        const double expected = log_mean_of(logits, normalisers, v);
        if (std::isinf(expected)) {
          EXPECT_EQ(mean[v], kImpossible) << "entry " << v << " of " << size;
        } else {
          EXPECT_NEAR(mean[v], expected, 1e-6 + 3e-7 * std::abs(expected)) << "entry " << v << " of " << size;
        }
        EXPECT_LE(mean[v], 1e-6F) << "entry " << v << " of " << size;
      }
      const std::vector<float> apart = mean;
      log_mean_exp(rows, normalisers, logits[0]);
      EXPECT_EQ(logits[0], apart) << "written over the first row";
    }
  }
}

TEST(VectorMath, OneElementThatIsNotFiniteIsSeenAnywhere) {
  for (const int64_t size : kSizes) {
    std::vector<float> x = random_floats(size, 1);
    EXPECT_TRUE(all_finite(x)) << size << " elements";
    for (float& value : x) {
      const float before = value;
      for (const float bad : {std::nanf(""), -std::nanf(""), std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity()}) {
        value = bad;
        ASSERT_FALSE(all_finite(x)) << bad << " at " << &value - x.data() << " of " << size;
      }
      value = std::numeric_limits<float>::lowest();
      ASSERT_TRUE(all_finite(x));
      value = before;
    }
  }
}

TEST(VectorMath, ElementwiseFunctionsFollowTheirFormulas) {
  for (const int64_t size : kSizes) {
    const std::vector<float> x = random_floats(size, 1), y = random_floats(size, 2);
    std::vector<float> sum = y, scaled = y, multiple = y, average = y;
    add_in_place(sum, x);
    scale_in_place(scaled, 2.5F);
    axpy(-1.5F, x, multiple);
    ema_update(average, x, 0.75);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(sum[i], y[i] + x[i]);
      ASSERT_EQ(scaled[i], 2.5F * y[i]);
      ASSERT_NEAR(multiple[i], y[i] - 1.5 * x[i], 2e-7);
      ASSERT_NEAR(average[i], 0.75 * y[i] + 0.25 * x[i], 2e-7);
    }
  }
}

struct AdamState {
  std::vector<float> weights, moment1, moment2;
};

AdamState start(int64_t size) {
  const auto count = static_cast<size_t>(size);
  return {random_floats(size, 1), std::vector<float>(count), std::vector<float>(count)};
}

TEST(VectorMath, AdamFollowsThePaperOverTenSteps) {
  AdamState state = start(37);
  std::vector<double> w(state.weights.begin(), state.weights.end()), m(37), v(37);
  AdamScalars scalars{.learning_rate = 0.01, .weight_decay = 0.1, .gradient_scale = 0.5};
  for (scalars.step = 1; scalars.step <= 10; ++scalars.step) {
    const std::vector<float> grads = random_floats(37, 10 + static_cast<uint64_t>(scalars.step));
    adam_update(state.weights, grads, state.moment1, state.moment2, scalars);
    const auto t = static_cast<double>(scalars.step);
    for (size_t i = 0; i < w.size(); ++i) {
      const double g = 0.5 * grads[i];
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.98 * v[i] + 0.02 * g * g;
      const double mean = m[i] / (1 - std::pow(0.9, t)), square = v[i] / (1 - std::pow(0.98, t));
      w[i] -= 0.01 * (mean / (std::sqrt(square) + 1e-9) + 0.1 * w[i]);
      ASSERT_NEAR(state.weights[i], w[i], 2e-6) << "element " << i << ", step " << t;
      ASSERT_NEAR(state.moment1[i], m[i], 1e-6) << "element " << i << ", step " << t;
      ASSERT_NEAR(state.moment2[i], v[i], 1e-6) << "element " << i << ", step " << t;
    }
  }
}

TEST(VectorMath, AdamInPartsIsAdamInOneGoBitForBit) {
  AdamState whole = start(100), parts = start(100);
  const std::vector<float> grads = random_floats(100, 3);
  const AdamScalars scalars{.learning_rate = 0.01, .weight_decay = 0.01};
  adam_update(whole.weights, grads, whole.moment1, whole.moment2, scalars);
  for (const auto& [begin, count] : {std::pair<size_t, size_t>{0, 13}, {13, 50}, {63, 37}}) {
    adam_update(std::span(parts.weights).subspan(begin, count), std::span(grads).subspan(begin, count),
                std::span(parts.moment1).subspan(begin, count), std::span(parts.moment2).subspan(begin, count),
                scalars);
  }
  EXPECT_EQ(whole.weights, parts.weights);
  EXPECT_EQ(whole.moment1, parts.moment1);
  EXPECT_EQ(whole.moment2, parts.moment2);
}

TEST(VectorMath, AdamWithoutGradientLeavesWeightsAndForgetsTinyMoments) {
  AdamState state = start(20);
  const std::vector<float> before = state.weights, none(20);
  state.moment1.assign(20, 1.2e-38F);
  adam_update(state.weights, none, state.moment1, state.moment2, {.learning_rate = 0});
  EXPECT_EQ(state.weights, before);
  EXPECT_EQ(state.moment1, none) << "denormals must not stay";
}

TEST(VectorMath, ErrorsNameFunctionAndSizes) {
  std::vector<float> three(3), four(4);
  EXPECT_THAT([&] { axpy(1.0F, three, four); }, testing::ThrowsMessage<base::Error>("axpy: 3 and 4 elements"));
  EXPECT_THAT([&] { adam_update(three, three, three, four, {}); },
              testing::ThrowsMessage<base::Error>("adam_update: 3 and 4 elements"));
  EXPECT_THAT([&] { adam_update(three, three, three, three, {.step = 0}); },
              testing::ThrowsMessage<base::Error>("adam_update: step is 0, must be >= 1"));
}

}  // namespace
}  // namespace dragoman::kernels
