#include "ops/activation.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using support::check_gradients;
using support::close;
using support::gradients;
using support::random_tensor;
using support::same_bits;
using support::strided_copy;
using tensor::DType;

constexpr Dropout kSome{.probability = 0.3F, .seed = 1, .step = 2, .site = 3, .first_row = 4};

class Activations : public testing::TestWithParam<Activation> {};

// From -12 to 12, so that both tails are seen.
Tensor wide_range(int64_t rows, int64_t columns) {
  Tensor x = random_tensor({rows, columns});
  for (double& value : x.span<double>()) {
    value *= 12.0;
  }
  return x;
}

TEST_P(Activations, GradientsAgreeWithFiniteDifferences) {
  const Tensor x = wide_range(4, 11);
  check_gradients([](const std::vector<Variable>& v) { return activation(v[0], GetParam()); }, {x});
  check_gradients([](const std::vector<Variable>& v) { return activation_dropout(v[0], GetParam(), kSome); }, {x});
}

TEST_P(Activations, Float32AgreesWithFloat64) {
  const auto function = [](const std::vector<Variable>& v) { return activation_dropout(v[0], GetParam(), kSome); };
  for (const int64_t columns : {1, 7, 31, 33, 64, 300}) {
    const Tensor x = wide_range(9, columns), weights = random_tensor({9, columns}, DType::kFloat64, 3);
    EXPECT_TRUE(close(activation(Variable(x.to(DType::kFloat32)), GetParam()).value(),
                      activation(Variable(x), GetParam()).value(), 1e-6));
    EXPECT_TRUE(close(function({Variable(strided_copy(x.to(DType::kFloat32)))}).value(),
                      function({Variable(x)}).value(), 1e-6));
    EXPECT_TRUE(close(gradients(function, {x.to(DType::kFloat32)}, weights.to(DType::kFloat32))[0],
                      gradients(function, {x}, weights)[0], 2e-6));
  }
}

TEST_P(Activations, FusedIsTheCompositionBitForBit) {
  const auto fused = [](const std::vector<Variable>& v) { return activation_dropout(v[0], GetParam(), kSome); };
  const auto composed = [](const std::vector<Variable>& v) { return dropout(activation(v[0], GetParam()), kSome); };
  const Tensor x = wide_range(5, 70).to(DType::kFloat32), weights = random_tensor({5, 70}, DType::kFloat32, 3);
  EXPECT_TRUE(same_bits(fused({Variable(x)}).value(), composed({Variable(x)}).value()));
  EXPECT_TRUE(close(gradients(fused, {x}, weights)[0], gradients(composed, {x}, weights)[0], 0));
}

TEST_P(Activations, NaNStaysAndExtremesAreFinite) {
  const float huge = std::numeric_limits<float>::max() / 4;
  const Tensor x = Tensor::from(std::vector<float>{std::nanf(""), -huge, huge, 0.0F}, {1, 4});
  const std::vector<float> y = activation(Variable(x), GetParam()).value().to_vector<float>();
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], GetParam() == Activation::kNone ? -huge : 0.0F);
  EXPECT_EQ(y[2], huge);
  EXPECT_EQ(y[3], 0.0F);
}

INSTANTIATE_TEST_SUITE_P(Each, Activations,
                         testing::Values(Activation::kNone, Activation::kRelu, Activation::kGelu, Activation::kSilu));

TEST(Activation, KnownValues) {
  const Tensor x = Tensor::from(std::vector<float>{-1, 1, 2}, {1, 3});
  const auto expect = [&](Activation kind, const std::vector<double>& wanted) {
    EXPECT_TRUE(close(activation(Variable(x), kind).value(), Tensor::from(wanted, {1, 3}), 1e-6));
  };
  expect(Activation::kRelu, {0, 1, 2});
  expect(Activation::kGelu, {-0.15865525393, 0.84134474607, 1.95449973610});
  expect(Activation::kSilu, {-0.26894142137, 0.73105857863, 1.76159415596});
}

TEST(Activation, ErrorsNameTheOp) {
  EXPECT_THAT(
      [] {
        activation_dropout(Variable(Tensor::zeros({1, 1})), Activation::kRelu, {.probability = -1});
      },
      testing::ThrowsMessage<base::Error>("activation_dropout: probability is -1, must be in [0, 1)"));
  EXPECT_THAT([] { activation(Variable(Tensor::zeros({3})), Activation::kRelu); },
              testing::ThrowsMessage<base::Error>("activation: x is [3], must be a matrix"));
}

}  // namespace
}  // namespace dragoman::ops
