#include "ops/activation.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "ops/elementwise.h"
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
    const bool saturates = GetParam() == Activation::kTanh || GetParam() == Activation::kSigmoid;
    EXPECT_EQ(y[1], GetParam() == Activation::kTanh   ? -1.0F
                    : GetParam() == Activation::kNone ? -huge
                                                      : 0.0F)
        << tensor::dtype_name(dtype);
    EXPECT_EQ(y[2], saturates                                ? 1.0F
                    : GetParam() == Activation::kReluSquared ? std::numeric_limits<float>::infinity()
                                                             : huge);
    EXPECT_EQ(y[3], GetParam() == Activation::kSigmoid ? 0.5F : 0.0F) << tensor::dtype_name(dtype);
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

TEST_P(Activations, SlopesAreFiniteAtExtremes) {
  const auto function = [](const std::vector<Variable>& v) { return activation(v[0], GetParam()); };
  const float huge = std::numeric_limits<float>::max() / 4;
  const Tensor x = Tensor::from(std::vector<float>{-huge, -20, 0, 20, huge}, {1, 5});
  const auto slopes = gradients(function, {x}, Tensor::full({1, 5}, 1.0))[0].to_vector<float>();
  const bool grows = GetParam() == Activation::kReluSquared, always = GetParam() == Activation::kNone;
  EXPECT_NEAR(slopes[0], always ? 1 : 0, 1e-6);
  EXPECT_NEAR(slopes[1], always ? 1 : 0, 1e-6);
  const bool saturates = GetParam() == Activation::kTanh || GetParam() == Activation::kSigmoid;
  EXPECT_NEAR(slopes[3], saturates ? 0 : grows ? 40 : 1, 1e-6);
  EXPECT_EQ(slopes[4], saturates ? 0 : grows ? 2 * huge : 1);
}

// gate, up
std::vector<Tensor> gated_inputs(int64_t rows, int64_t columns) {
  return {wide_range(rows, columns), random_tensor({rows, columns}, DType::kFloat64, 2)};
}

test_support::Function gated(Activation kind, const Dropout& dropout) {
  return [=](const std::vector<Variable>& v) { return gated_activation(v[0], v[1], kind, dropout); };
}

test_support::Function composed_gate(Activation kind, const Dropout& drops) {
  return [=](const std::vector<Variable>& v) { return dropout(multiply(activation(v[0], kind), v[1]), drops); };
}

Tensor value_of(const test_support::Function& function, const std::vector<Tensor>& inputs) {
  return function(std::vector<Variable>(inputs.begin(), inputs.end())).value();
}

TEST_P(Activations, GatedGradientsAgreeWithFiniteDifferences) {
  check_gradients(gated(GetParam(), {}), gated_inputs(3, 7));
  check_gradients(gated(GetParam(), kSome), gated_inputs(3, 7));
}

TEST_P(Activations, GatedFloat32IsTheCompositionBitForBit) {
  for (const Dropout& dropout : {Dropout{}, kSome}) {
    for (const int64_t columns : {1, 7, 31, 33, 64, 300}) {
      const std::vector<Tensor> exact = gated_inputs(5, columns);
      const std::vector<Tensor> inputs = {exact[0].to(DType::kFloat32), exact[1].to(DType::kFloat32)};
      const std::vector<Tensor> views = {strided_copy(inputs[0]), strided_copy(inputs[1])};
      const Tensor weights = random_tensor({5, columns}, DType::kFloat32, 3);
      const auto fused = gated(GetParam(), dropout), composed = composed_gate(GetParam(), dropout);
      EXPECT_TRUE(same_bits(value_of(fused, views), value_of(composed, inputs))) << columns;
      EXPECT_TRUE(close(value_of(fused, views), value_of(fused, exact), 1e-5)) << columns;
      const auto seen = gradients(fused, views, weights), expected = gradients(composed, inputs, weights);
      const auto naive = gradients(fused, exact, weights.to(DType::kFloat64));
      for (size_t which = 0; which < 2; ++which) {
        EXPECT_TRUE(close(seen[which], expected[which], 1e-6)) << "gradient " << which << ", " << columns;
        EXPECT_TRUE(close(seen[which], naive[which], 1e-5)) << "gradient " << which << ", " << columns;
      }
    }
  }
}

TEST_P(Activations, GatedBFloat16IsTheFloat32ResultRounded) {
  for (const Dropout& dropout : {Dropout{}, kSome}) {
    const auto function = gated(GetParam(), dropout);
    for (const int64_t columns : {1, 7, 16, 33, 300}) {
      std::vector<Tensor> inputs = gated_inputs(5, columns), wide;
      for (Tensor& input : inputs) {
        input = strided_copy(input.to(DType::kBFloat16));
        wide.push_back(input.to(DType::kFloat32));
      }
      const Tensor grad_y = random_tensor({5, columns}, DType::kBFloat16, 3);
      EXPECT_TRUE(same_bits(value_of(function, inputs), rounded(value_of(function, wide)).to(DType::kBFloat16)));
      const auto seen = gradients(function, inputs, grad_y);
      const auto expected = gradients(function, wide, grad_y.to(DType::kFloat32));
      for (size_t which = 0; which < 2; ++which) {
        EXPECT_TRUE(same_bits(seen[which], expected[which].to(DType::kBFloat16))) << "gradient " << which;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Activations,
                         testing::Values(Activation::kNone, Activation::kRelu, Activation::kGelu, Activation::kSilu,
                                         Activation::kGeluTanh, Activation::kReluSquared, Activation::kTanh,
                                         Activation::kSigmoid));

TEST(Activation, KnownValues) {
  const Tensor x = Tensor::from(std::vector<float>{-1, 1, 2}, {1, 3});
  const auto expect = [&](Activation kind, const std::vector<double>& wanted) {
    EXPECT_TRUE(close(activation(Variable(x), kind).value(), Tensor::from(wanted, {1, 3}), 1e-6));
  };
  expect(Activation::kRelu, {0, 1, 2});
  expect(Activation::kGelu, {-0.15865525393, 0.84134474607, 1.95449973610});
  expect(Activation::kSilu, {-0.26894142137, 0.73105857863, 1.76159415596});
  expect(Activation::kGeluTanh, {-0.15880800939, 0.84119199061, 1.95459769410});
  expect(Activation::kReluSquared, {0, 1, 4});
}

TEST(Activation, ErrorsNameTheOp) {
  const Variable x(Tensor::zeros({2, 4})), narrow(Tensor::zeros({2, 3}));
  EXPECT_THAT([&] { gated_activation(x, narrow, Activation::kSilu); },
              testing::ThrowsMessage<base::Error>("gated_activation: up is [2, 3], must be [2, 4]"));
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
