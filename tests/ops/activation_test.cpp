#include "ops/activation.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using test_support::check_gradients;
using test_support::close;
using test_support::gradients;
using test_support::random_tensor;
using test_support::rounded;
using test_support::same_bits;
using test_support::strided_copy;

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
  const std::pair<DType, float> kLargest[] = {{DType::kFloat32, std::numeric_limits<float>::max() / 4},
                                              {DType::kBFloat16, std::ldexp(1.0F, 120)}};
  for (const auto& [dtype, huge] : kLargest) {
    const Tensor x = Tensor::from(std::vector<float>{std::nanf(""), -huge, huge, 0.0F}, {1, 4}).to(dtype);
    const Tensor result = activation(Variable(x), GetParam()).value();
    const std::vector<float> y = result.to(DType::kFloat32).to_vector<float>();
    EXPECT_TRUE(std::isnan(y[0])) << tensor::dtype_name(dtype) << ": came out as " << y[0];
    EXPECT_EQ(y[1], GetParam() == Activation::kNone ? -huge : 0.0F) << tensor::dtype_name(dtype);
    EXPECT_EQ(y[2], huge) << tensor::dtype_name(dtype);
    EXPECT_EQ(y[3], 0.0F) << tensor::dtype_name(dtype);
  }
}

// bfloat16 is read as it is, computed with in float32 and rounded once.
TEST_P(Activations, BFloat16IsTheFloat32ResultRounded) {
  const auto function = [](const std::vector<Variable>& v) { return activation(v[0], GetParam()); };
  for (const int64_t columns : {1, 7, 16, 31, 33, 64, 300}) {
    const Tensor x = wide_range(9, columns).to(DType::kBFloat16);
    const Tensor grad_y = random_tensor({9, columns}, DType::kBFloat16, 3);
    const Tensor wide_x = x.to(DType::kFloat32), wide_grad_y = grad_y.to(DType::kFloat32);
    const Tensor view = strided_copy(x);
    EXPECT_TRUE(
        same_bits(function({Variable(view)}).value(), function({Variable(wide_x)}).value().to(DType::kBFloat16)))
        << columns << " columns";
    EXPECT_TRUE(same_bits(gradients(function, {view}, grad_y)[0],
                          gradients(function, {wide_x}, wide_grad_y)[0].to(DType::kBFloat16)))
        << "gradient, " << columns << " columns";
  }
}

// With dropout it is rounded twice, after each of the two ops that it stands for.
TEST_P(Activations, BFloat16WithDropoutIsTheCompositionOfRoundedResults) {
  const auto fused = [](const std::vector<Variable>& v) { return activation_dropout(v[0], GetParam(), kSome); };
  const auto alone = [](const std::vector<Variable>& v) { return activation(v[0], GetParam()); };
  const auto dropped = [](const Tensor& x) { return rounded(dropout(Variable(x.to(DType::kFloat32)), kSome).value()); };
  for (const int64_t columns : {1, 7, 16, 31, 33, 64, 300}) {
    const Tensor x = wide_range(9, columns).to(DType::kBFloat16);
    const Tensor grad_y = random_tensor({9, columns}, DType::kBFloat16, 3);
    const Tensor y = fused({Variable(strided_copy(x))}).value();
    EXPECT_EQ(y.dtype(), DType::kBFloat16);
    EXPECT_TRUE(close(y, dropped(alone({Variable(x)}).value()), 0)) << columns << " columns";
    const Tensor grad = gradients(fused, {strided_copy(x)}, grad_y)[0];
    EXPECT_EQ(grad.dtype(), DType::kBFloat16);
    const Tensor expected = gradients(alone, {x.to(DType::kFloat32)}, dropped(grad_y))[0];
    EXPECT_TRUE(close(grad, rounded(expected), 0)) << "gradient, " << columns << " columns";
  }
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
