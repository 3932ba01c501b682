#include "ops/layer_norm.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "ops/linear.h"
#include "ops/residual.h"
#include "support/error_of.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using test_support::check_gradients;
using test_support::close;
using test_support::Function;
using test_support::gradients;
using test_support::random_tensor;
using test_support::same_bits;
using test_support::strided_copy;

constexpr float kEpsilon = 1e-5F;
constexpr Dropout kSome{.probability = 0.25F, .seed = 5, .step = 6, .site = 7, .first_row = 8};

const Function kNorm = [](const std::vector<Variable>& v) { return layer_norm(v[0], v[1], v[2], kEpsilon); };
const Function kResidual = [](const std::vector<Variable>& v) { return residual_dropout(v[0], v[1], kSome); };
const Function kFused = [](const std::vector<Variable>& v) {
  return residual_dropout_layer_norm(v[0], v[1], v[2], v[3], kEpsilon, kSome);
};
const Function kComposed = [](const std::vector<Variable>& v) {
  return layer_norm(residual_dropout(v[0], v[1], kSome), v[2], v[3], kEpsilon);
};

std::vector<Tensor> as_float32(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> narrow;
  for (const Tensor& tensor : tensors) {
    narrow.push_back(tensor.to(DType::kFloat32));
  }
  return narrow;
}

Tensor value_of(const Function& function, const std::vector<Tensor>& inputs) {
  return function(std::vector<Variable>(inputs.begin(), inputs.end())).value();
}

std::vector<Tensor> norm_inputs(int64_t rows, int64_t width) {
  return {random_tensor({rows, width}, DType::kFloat64, 1), random_tensor({width}, DType::kFloat64, 2),
          random_tensor({width}, DType::kFloat64, 3)};
}

std::vector<Tensor> residual_inputs(int64_t rows, int64_t width) {
  std::vector<Tensor> inputs = norm_inputs(rows, width);
  inputs.insert(inputs.begin(), random_tensor({rows, width}, DType::kFloat64, 4));
  return inputs;
}

// Values and gradients of the kernels against those of the float64 loops.
void expect_kernel_agrees(const Function& function, const std::vector<Tensor>& inputs, double tolerance) {
  const Tensor weights = random_tensor(inputs[0].shape(), DType::kFloat64, 9);
  EXPECT_TRUE(close(value_of(function, as_float32(inputs)), value_of(function, inputs), tolerance));
  const auto seen = gradients(function, as_float32(inputs), weights.to(DType::kFloat32));
  const auto expected = gradients(function, inputs, weights);
  for (size_t which = 0; which < expected.size(); ++which) {
    EXPECT_TRUE(close(seen[which], expected[which], tolerance)) << "gradient " << which;
  }
}

TEST(LayerNorm, GradientsAgreeWithFiniteDifferences) {
  check_gradients(kNorm, norm_inputs(3, 5));
  check_gradients(kResidual, {random_tensor({3, 9}, DType::kFloat64, 1), random_tensor({3, 9}, DType::kFloat64, 2)});
  check_gradients(kFused, residual_inputs(3, 9));
}

// Norms without a bias: layer norm and RMS norm, alone and after a residual sum. Inputs: x, gain; residual, x, gain.
const Function kUnbiased = [](const std::vector<Variable>& v) { return layer_norm(v[0], v[1], {}, kEpsilon); };
const Function kRms = [](const std::vector<Variable>& v) { return rms_norm(v[0], v[1], kEpsilon); };
const Function kFusedUnbiased = [](const std::vector<Variable>& v) {
  return residual_dropout_layer_norm(v[0], v[1], v[2], {}, kEpsilon, kSome);
};
const Function kFusedRms = [](const std::vector<Variable>& v) {
  return residual_dropout_rms_norm(v[0], v[1], v[2], kEpsilon, kSome);
};
const Function kComposedUnbiased = [](const std::vector<Variable>& v) {
  return layer_norm(residual_dropout(v[0], v[1], kSome), v[2], {}, kEpsilon);
};
const Function kComposedRms = [](const std::vector<Variable>& v) {
  return rms_norm(residual_dropout(v[0], v[1], kSome), v[2], kEpsilon);
};

// All but the bias.
std::vector<Tensor> unbiased(std::vector<Tensor> inputs) {
  inputs.pop_back();
  return inputs;
}

TEST(LayerNorm, NormsWithoutBiasAgreeWithFiniteDifferences) {
  check_gradients(kUnbiased, unbiased(norm_inputs(3, 5)));
  check_gradients(kRms, unbiased(norm_inputs(3, 5)));
  check_gradients(kFusedUnbiased, unbiased(residual_inputs(3, 9)));
  check_gradients(kFusedRms, unbiased(residual_inputs(3, 9)));
}

TEST(LayerNorm, Float32WithoutBiasAgreesWithFloat64) {
  for (const int64_t width : {7, 31, 33, 64, 300}) {
    SCOPED_TRACE(width);
    expect_kernel_agrees(kUnbiased, unbiased(norm_inputs(13, width)), 1e-5);
    expect_kernel_agrees(kFusedUnbiased, unbiased(residual_inputs(13, width)), 1e-5);
    expect_kernel_agrees(kRms, unbiased(norm_inputs(13, width)), 1e-5);
    expect_kernel_agrees(kFusedRms, unbiased(residual_inputs(13, width)), 1e-5);
  }
}

TEST(LayerNorm, NoBiasIsABiasOfZeros) {
  const auto inputs = as_float32(norm_inputs(9, 70));
  const Tensor weights = random_tensor({9, 70}, DType::kFloat32, 9);
  const std::vector<Tensor> with_zeros = {inputs[0], inputs[1], Tensor::zeros({70})};
  EXPECT_TRUE(close(value_of(kUnbiased, unbiased(inputs)), value_of(kNorm, with_zeros), 1e-7));
  const auto seen = gradients(kUnbiased, unbiased(inputs), weights), expected = gradients(kNorm, with_zeros, weights);
  EXPECT_TRUE(same_bits(seen[0], expected[0]));
  EXPECT_TRUE(same_bits(seen[1], expected[1]));
}

TEST(LayerNorm, FusedWithoutBiasIsTheCompositionBitForBit) {
  const auto inputs = as_float32(unbiased(residual_inputs(9, 70)));
  const Tensor weights = random_tensor({9, 70}, DType::kFloat32, 9);
  for (const auto& [fused, composed] : {std::pair(kFusedUnbiased, kComposedUnbiased), {kFusedRms, kComposedRms}}) {
    EXPECT_TRUE(same_bits(value_of(fused, inputs), value_of(composed, inputs)));
    const auto seen = gradients(fused, inputs, weights), expected = gradients(composed, inputs, weights);
    for (size_t which = 0; which < inputs.size(); ++which) {
      EXPECT_TRUE(same_bits(seen[which], expected[which])) << "gradient " << which;
    }
  }
}

// y = x / sqrt(mean(x^2) + epsilon) * gain, term by term
TEST(RmsNorm, FollowsItsFormula) {
  const Tensor x = random_tensor({4, 33}), gain = random_tensor({33}, DType::kFloat64, 2);
  const std::vector<double> seen = value_of(kRms, {x, gain}).to_vector<double>();
  const std::vector<double> of_x = x.to_vector<double>(), of_gain = gain.to_vector<double>();
  for (size_t row = 0; row < 4; ++row) {
    double squares = 0;
    for (size_t c = 0; c < 33; ++c) {
      squares += of_x[row * 33 + c] * of_x[row * 33 + c];
    }
    for (size_t c = 0; c < 33; ++c) {
      const double expected = of_x[row * 33 + c] / std::sqrt(squares / 33 + static_cast<double>(kEpsilon)) * of_gain[c];
      EXPECT_NEAR(seen[row * 33 + c], expected, 1e-14);
    }
  }
}

TEST(RmsNorm, ARowOfZerosStaysZeroWithAFiniteGradient) {
  const std::vector<Tensor> inputs = {Tensor::zeros({2, 40}), Tensor::full({40}, 1.0)};
  EXPECT_TRUE(close(value_of(kRms, inputs), Tensor::zeros({2, 40}), 0));
  for (const float grad : gradients(kRms, inputs, Tensor::full({2, 40}, 1.0))[0].to_vector<float>()) {
    EXPECT_NEAR(grad, 1 / std::sqrt(kEpsilon), 1e-2);
  }
}

const Function kHeads = [](const std::vector<Variable>& v) { return head_rms_norm(v[0], v[1], kEpsilon); };

TEST(RmsNorm, HeadsAreNormalisedAlone) {
  const Tensor x = random_tensor({5, 24}), gain = random_tensor({8}, DType::kFloat64, 2);
  check_gradients(kHeads, {x, gain});
  const Tensor heads = value_of(kRms, {x.reshape({15, 8}), gain}).reshape({5, 24});
  EXPECT_TRUE(close(value_of(kHeads, {x, gain}), heads, 0));
  EXPECT_TRUE(close(value_of(kHeads, {strided_copy(x), gain}), heads, 0));
  expect_kernel_agrees(kHeads, {x, gain}, 1e-5);
}

TEST(RmsNorm, HeadsInBFloat16AreTheFloat32ResultRounded) {
  const Tensor x = random_tensor({5, 66}, DType::kBFloat16), gain = random_tensor({33}, DType::kFloat32, 2);
  const Tensor wide = x.to(DType::kFloat32), grad_y = random_tensor({5, 66}, DType::kBFloat16, 3);
  EXPECT_TRUE(
      same_bits(value_of(kHeads, {strided_copy(x), gain}), value_of(kHeads, {wide, gain}).to(DType::kBFloat16)));
  const auto seen = gradients(kHeads, {strided_copy(x), gain}, grad_y);
  const auto expected = gradients(kHeads, {wide, gain}, grad_y.to(DType::kFloat32));
  EXPECT_TRUE(same_bits(seen[0], expected[0].to(DType::kBFloat16)));
  EXPECT_TRUE(same_bits(seen[1], expected[1]));
}

TEST(LayerNorm, Float32AgreesWithFloat64) {
  for (const int64_t width : {7, 31, 33, 64, 300}) {
    SCOPED_TRACE(width);
    expect_kernel_agrees(kNorm, norm_inputs(13, width), 1e-5);
    expect_kernel_agrees(kFused, residual_inputs(13, width), 1e-5);
    expect_kernel_agrees(kResidual, {random_tensor({13, width}), random_tensor({13, width}, DType::kFloat64, 2)}, 1e-6);
  }
}

TEST(LayerNorm, RowsHaveMeanZeroAndVarianceOne) {
  const Tensor x = strided_copy(random_tensor({4, 100}, DType::kFloat32));
  const Tensor y =
      layer_norm(Variable(x), Variable(Tensor::full({100}, 1.0)), Variable(Tensor::zeros({100})), 0).value();
  for (int64_t row = 0; row < 4; ++row) {
    double sum = 0, squares = 0;
    for (const float value : y.rows(row, row + 1).span<float>()) {
      sum += value;
      squares += value * value;
    }
    EXPECT_NEAR(sum / 100, 0, 1e-6) << "row " << row;
    EXPECT_NEAR(squares / 100, 1, 1e-5) << "row " << row;
  }
}

TEST(LayerNorm, FusedIsTheCompositionBitForBit) {
  for (const Dropout& dropout : {kSome, Dropout{}}) {
    const auto fused = [&](const std::vector<Variable>& v) {
      return residual_dropout_layer_norm(v[0], v[1], v[2], v[3], kEpsilon, dropout);
    };
    const auto composed = [&](const std::vector<Variable>& v) {
      return layer_norm(residual_dropout(v[0], v[1], dropout), v[2], v[3], kEpsilon);
    };
    const auto inputs = as_float32(residual_inputs(9, 70));
    const Tensor weights = random_tensor({9, 70}, DType::kFloat32, 9);
    EXPECT_TRUE(same_bits(value_of(fused, inputs), value_of(composed, inputs)));
    const auto seen = gradients(fused, inputs, weights), expected = gradients(composed, inputs, weights);
    for (size_t which = 0; which < inputs.size(); ++which) {
      EXPECT_TRUE(same_bits(seen[which], expected[which])) << "gradient " << which;
    }
  }
}

TEST(LayerNorm, ResidualIsTheSumWithDropout) {
  const Variable x(random_tensor({6, 33}, DType::kFloat32, 1)), y(random_tensor({6, 33}, DType::kFloat32, 2));
  const Tensor zeros = Tensor::zeros({6, 33});
  EXPECT_TRUE(close(residual_dropout(Variable(zeros), y, kSome).value(), dropout(y, kSome).value(), 0));
  EXPECT_TRUE(same_bits(residual_dropout(x, Variable(zeros), {}).value(), x.value()));
}

TEST(LayerNorm, GradientsHandedThroughAResidualAreNotMixedUp) {
  check_gradients(
      [](const std::vector<Variable>& v) { return residual_dropout(v[0], linear(v[0], v[1], Variable()), {}); },
      {random_tensor({3, 4}, DType::kFloat64, 1), random_tensor({4, 4}, DType::kFloat64, 2)});
}

TEST(LayerNorm, ARowDoesNotDependOnTheOthers) {
  const auto inputs = as_float32(norm_inputs(8, 65));
  const Tensor all = value_of(kNorm, inputs);
  for (int64_t row = 0; row < 8; ++row) {
    EXPECT_TRUE(
        same_bits(value_of(kNorm, {inputs[0].rows(row, row + 1), inputs[1], inputs[2]}), all.rows(row, row + 1)));
  }
}

// The ops on a residual, by their dropout.
Function residual_with(const Dropout& dropout) {
  return [=](const std::vector<Variable>& v) { return residual_dropout(v[0], v[1], dropout); };
}

Function fused_with(const Dropout& dropout) {
  return [=](const std::vector<Variable>& v) {
    return residual_dropout_layer_norm(v[0], v[1], v[2], v[3], kEpsilon, dropout);
  };
}

// What a sublayer gives in bfloat16 is widened without loss; its gradient alone is rounded.
void expect_float32_of_widened(const Function& function, std::vector<Tensor> inputs, const std::string& label) {
  const Tensor weights = random_tensor(inputs[0].shape(), DType::kFloat32, 9);
  inputs[1] = inputs[1].to(DType::kBFloat16).to(DType::kFloat32);
  const Tensor value = value_of(function, inputs);
  const auto expected = gradients(function, inputs, weights);
  inputs[1] = strided_copy(inputs[1].to(DType::kBFloat16));
  EXPECT_TRUE(same_bits(value_of(function, inputs), value)) << label;
  const auto seen = gradients(function, inputs, weights);
  for (size_t which = 0; which < inputs.size(); ++which) {
    EXPECT_TRUE(same_bits(seen[which], which == 1 ? expected[which].to(DType::kBFloat16) : expected[which]))
        << "gradient " << which << ", " << label;
  }
}

TEST(LayerNorm, ASublayerInBFloat16GivesTheBitsOfTheSameNumbersInFloat32) {
  for (const int64_t width : {1, 7, 16, 31, 33, 64, 300}) {
    for (const Dropout& dropout : {kSome, Dropout{}}) {
      const std::vector<Tensor> inputs = as_float32(residual_inputs(13, width));
      const std::string label = "width " + std::to_string(width) + ", dropout " + std::to_string(dropout.probability);
      expect_float32_of_widened(residual_with(dropout), {inputs[0], inputs[1]}, label);
      expect_float32_of_widened(fused_with(dropout), inputs, "normalised, " + label);
    }
  }
}

TEST(LayerNorm, TheResultComesRoundedTooAfterASublayerInBFloat16) {
  for (const int64_t width : {7, 16, 33, 300}) {
    for (const Dropout& dropout : {kSome, Dropout{}}) {
      const std::vector<Tensor> inputs = as_float32(residual_inputs(13, width));
      std::vector<Variable> variables(inputs.begin(), inputs.end());
      EXPECT_FALSE(fused_with(dropout)(variables).rounded().defined()) << "products after float32 take float32";
      variables[1] = Variable(inputs[1].to(DType::kBFloat16));
      const Variable y = fused_with(dropout)(variables);
      ASSERT_TRUE(y.rounded().defined()) << "width " << width;
      EXPECT_TRUE(same_bits(y.rounded(), y.value().to(DType::kBFloat16))) << "width " << width;
      EXPECT_FALSE(residual_with(dropout)(variables).rounded().defined()) << "no product takes the sum";
    }
  }
}

TEST(LayerNorm, OnlyTheSublayerMayBeBFloat16) {
  const Variable x(Tensor::zeros({2, 4})), narrow(Tensor::zeros({2, 4}, DType::kBFloat16)), four(Tensor::zeros({4}));
  const Variable exact(Tensor::zeros({2, 4}, DType::kFloat64));
  EXPECT_EQ(test_support::error_of([&] { residual_dropout(narrow, x, {}); }),
            "residual_dropout: residual is bfloat16, must be float32");
  EXPECT_EQ(test_support::error_of([&] { residual_dropout(narrow, narrow, {}); }),
            "residual_dropout: residual is bfloat16, must be float32");
  EXPECT_EQ(test_support::error_of([&] { residual_dropout(exact, narrow, {}); }),
            "residual_dropout: sublayer is bfloat16, must be float64");
  EXPECT_EQ(test_support::error_of([&] { residual_dropout_layer_norm(narrow, x, four, four, kEpsilon, {}); }),
            "residual_dropout_layer_norm: residual is bfloat16, must be float32");
  EXPECT_EQ(test_support::error_of([&] { layer_norm(narrow, four, four, kEpsilon); }),
            "layer_norm: x is bfloat16, must be float32");
}

TEST(RmsNorm, ErrorsNameTheArgument) {
  const Variable x(Tensor::zeros({2, 10})), four(Tensor::zeros({4}));
  EXPECT_THAT([&] { rms_norm(x, four, kEpsilon); },
              testing::ThrowsMessage<base::Error>("rms_norm: gain is [4], must be [10]"));
  EXPECT_THAT(
      [&] { head_rms_norm(x, four, kEpsilon); },
      testing::ThrowsMessage<base::Error>("head_rms_norm: x has width 10, must be a multiple of the width of gain, 4"));
}

TEST(LayerNorm, ErrorsNameTheArgument) {
  const Variable x(Tensor::zeros({2, 4})), four(Tensor::zeros({4})), three(Tensor::zeros({3}));
  EXPECT_THAT([&] { layer_norm(x, three, four, kEpsilon); },
              testing::ThrowsMessage<base::Error>("layer_norm: gain is [3], must be [4]"));
  EXPECT_THAT([&] { layer_norm(x, four, four, -1.0F); },
              testing::ThrowsMessage<base::Error>("layer_norm: epsilon is -1, must be >= 0"));
  EXPECT_THAT(
      [&] {
        residual_dropout(x, Variable(Tensor::zeros({3, 4})), {});
      },
      testing::ThrowsMessage<base::Error>("residual_dropout: sublayer is [3, 4], must be [2, 4]"));
}

}  // namespace
}  // namespace dragoman::ops
