#include "ops/linear_cross_entropy.h"

#include <gmock/gmock.h>

#include <cmath>

#include "loss_outcome.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/linear.h"
#include "ops/matmul.h"
#include "support/error_of.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using test_support::close;
using test_support::random_tensor;

constexpr LossOptions kOptions{0.1F, 0.25};

std::vector<Tensor> inputs_of(int64_t n_tokens, int64_t n_classes, int64_t d_model, DType dtype) {
  return {random_tensor({n_tokens, d_model}, dtype, 1), random_tensor({n_classes, d_model}, dtype, 2),
          random_tensor({n_classes}, dtype, 3)};
}

test_support::Function fused(const Tensor& targets) {
  return [=](const std::vector<Variable>& in) {
    return linear_cross_entropy(in[0], in[1], in.size() > 2 ? in[2] : Variable(), targets, kOptions).loss;
  };
}

TEST(LinearCrossEntropy, BackwardMatchesCentralDifferences) {
  const auto inputs = inputs_of(4, 5, 3, DType::kFloat64);
  test_support::check_gradients(fused(targets_of(4, 5)), inputs);
  test_support::check_gradients(fused(targets_of(4, 5)), {inputs[0], inputs[1]});
}

// 600 tokens make three chunks, the last one partial.
TEST(LinearCrossEntropy, EqualsItsComposition) {
  const Tensor targets = targets_of(600, 37);
  const auto composition = [&](const std::vector<Variable>& in) {
    const Variable logits = matmul(in[0], Transpose::kNo, in[1], Transpose::kYes);
    return cross_entropy(logits, targets, kOptions);
  };
  auto inputs = inputs_of(600, 37, 16, DType::kFloat64);
  inputs.pop_back();
  const Outcome simple = outcome_of(composition, inputs), seen = outcome_of(fused(targets), inputs);
  EXPECT_NEAR(seen.loss, simple.loss, 1e-9 * simple.loss);
  EXPECT_TRUE(close(seen.gradients[0], simple.gradients[0], 1e-12)) << "gradient of hidden";
  EXPECT_TRUE(close(seen.gradients[1], simple.gradients[1], 1e-12)) << "gradient of weight";
}

TEST(LinearCrossEntropy, KernelMatchesReference) {
  for (const auto& [n_tokens, n_classes, d_model] :
       std::vector<std::array<int64_t, 3>>{{1, 7, 5}, {33, 300, 64}, {300, 31, 33}, {513, 1000, 32}}) {
    const Tensor targets = targets_of(n_tokens, n_classes);
    const Outcome exact = outcome_of(fused(targets), inputs_of(n_tokens, n_classes, d_model, DType::kFloat64));
    const Outcome seen = outcome_of(fused(targets), inputs_of(n_tokens, n_classes, d_model, DType::kFloat32));
    EXPECT_NEAR(seen.loss / exact.loss, 1.0, 1e-6) << "N=" << n_tokens;
    for (size_t input = 0; input < 3; ++input) {
      EXPECT_TRUE(close(seen.gradients[input], exact.gradients[input], 5e-6))
          << "N=" << n_tokens << ", input " << input;
    }
  }
}

TEST(LinearCrossEntropy, CountsCorrectTokensAndUnsmoothedLoss) {
  // logits = weight rows: class 1 twice as likely as class 0; class 2 equal to class 1
  const Variable weight(Tensor::from(std::vector<float>{0, std::log(2.0F), std::log(2.0F)}, {3, 1}));
  const Variable hidden(Tensor::full({3, 1}, 1.0));
  const Tensor targets = Tensor::from(std::vector<int32_t>{0, 1, 2}, {3});
  const LossResult result = linear_cross_entropy(hidden, weight, Variable(), targets, {0.1F, 0.5});
  EXPECT_NEAR(result.nll, std::log(5.0) + 2 * std::log(2.5), 1e-6);
  EXPECT_EQ(result.correct, 1) << "class 1 is the lowest id of the largest logits";
}

PackedWeight packed(const Tensor& weight, Precision precision) {
  PackedWeight copy(weight.shape(), {precision, Transpose::kYes, true});
  copy.pack(weight, 0, copy.panels());
  return copy;
}

// With a packed copy in bfloat16, where logits may come in parts (LogitParts): several chunks of tokens, several parts
// of classes, rests of both. The gradients are products of rounded numbers, the gradient of the bias is not.
TEST(LinearCrossEntropy, BFloat16IsTheLossOfItsLogits) {
  for (const auto& [n_tokens, n_classes, d_model] :
       std::vector<std::array<int64_t, 3>>{{1, 7, 5}, {33, 480, 64}, {500, 1303, 33}, {961, 500, 32}}) {
    const auto inputs = inputs_of(n_tokens, n_classes, d_model, DType::kFloat32);
    const Tensor targets = targets_of(n_tokens, n_classes);
    const PackedWeight copy = packed(inputs[1], Precision::kBFloat16);
    Tensor logits = Tensor::empty({n_tokens, n_classes});
    copy.forward().multiply(inputs[0], {inputs[2]}, logits);
    const auto loss_of_logits = [&](const std::vector<Variable>& in) {
      return cross_entropy(in[0], targets, kOptions);
    };
    const Outcome exact = outcome_of(loss_of_logits, {logits.to(DType::kFloat64)});
    const auto with_copy = [&](const std::vector<Variable>& in) {
      return linear_cross_entropy(in[0], {in[1], &copy}, in[2], targets, kOptions).loss;
    };
    const Outcome seen = outcome_of(with_copy, inputs);
    EXPECT_NEAR(seen.loss / exact.loss, 1.0, 1e-6) << "N=" << n_tokens << ", V=" << n_classes;
    const Tensor& grad_logits = exact.gradients[0];
    Tensor grad_hidden = Tensor::empty(inputs[0].shape(), DType::kFloat64);
    gemm(grad_logits, Transpose::kNo, inputs[1].to(DType::kFloat64), Transpose::kNo, grad_hidden);
    EXPECT_TRUE(close(seen.gradients[0], grad_hidden, 2e-2)) << "hidden, N=" << n_tokens << ", V=" << n_classes;
    Tensor grad_weight = Tensor::empty(inputs[1].shape(), DType::kFloat64);
    gemm(grad_logits, Transpose::kYes, inputs[0].to(DType::kFloat64), Transpose::kNo, grad_weight);
    EXPECT_TRUE(close(seen.gradients[1], grad_weight, 2e-2)) << "weight, N=" << n_tokens << ", V=" << n_classes;
    Tensor grad_bias = Tensor::empty({n_classes, 1}, DType::kFloat64);
    gemm(grad_logits, Transpose::kYes, Tensor::full({n_tokens, 1}, 1.0, DType::kFloat64), Transpose::kNo, grad_bias);
    EXPECT_TRUE(close(seen.gradients[2], grad_bias.reshape({n_classes}), 1e-5)) << "bias, N=" << n_tokens;
    const double untaped = with_copy({Variable(inputs[0]), Variable(inputs[1]), Variable(inputs[2])}).value().item();
    EXPECT_EQ(untaped, seen.loss) << "without a tape, N=" << n_tokens;
  }
}

// Two largest logits are equal, in one part of the classes or in two.
TEST(LinearCrossEntropy, OfEqualLogitsTheLowestIdCounts) {
  const int64_t n_classes = 1000;
  for (const auto& [first, second] : std::vector<std::array<int32_t, 2>>{{3, 5}, {3, 700}, {500, 999}, {0, 480}}) {
    Tensor weight = Tensor::zeros({n_classes, 1});
    weight.data<float>()[first] = weight.data<float>()[second] = 2.0F;
    const PackedWeight copy = packed(weight, Precision::kBFloat16);
    const Tensor targets = Tensor::from(std::vector<int32_t>{second, first, 900}, {3});
    const LossResult result =
        linear_cross_entropy(Variable(Tensor::full({3, 1}, 1.0)), {Variable(weight), &copy}, Variable(), targets, {});
    EXPECT_EQ(result.correct, 1) << first << " and " << second;
    EXPECT_NEAR(result.nll, 3 * std::log(2 * std::exp(2.0) + 998) - 4, 1e-4) << first << " and " << second;
  }
}

TEST(LinearCrossEntropy, AddsToTheGradientOfATiedWeight) {
  const Tensor targets = targets_of(4, 5), ids = targets_of(4, 5);
  const auto tied = [&](const std::vector<Variable>& in) {
    return linear_cross_entropy(embedding(in[0], ids, 2.0F), in[0], Variable(), targets, kOptions).loss;
  };
  test_support::check_gradients(tied, {random_tensor({5, 3})});
}

TEST(LinearCrossEntropy, GivesTheSameLossWithoutATape) {
  const auto inputs = inputs_of(300, 50, 8, DType::kFloat32);
  const Tensor targets = targets_of(300, 50);
  const double loss = fused(targets)({Variable(inputs[0]), Variable(inputs[1]), Variable(inputs[2])}).value().item();
  EXPECT_EQ(loss, outcome_of(fused(targets), inputs).loss);
}

TEST(LinearCrossEntropy, RefusesAScaledGradient) {
  const Variable hidden(Tensor::zeros({1, 2}), true), weight(Tensor::zeros({3, 2}), true);
  autograd::Tape tape;
  const autograd::TapeScope scope(&tape);
  const Variable loss = linear_cross_entropy(hidden, weight, Variable(), targets_of(1, 3), {}).loss;
  EXPECT_EQ(test_support::error_of([&] { tape.backward(loss, 0.5); }),
            "linear_cross_entropy: the gradient of the loss is 0.5, must be 1; use gradient_scale");
}

TEST(LinearCrossEntropy, NamesWhatDoesNotFit) {
  const auto error = [](const Tensor& weight, const Tensor& bias, const Tensor& targets) {
    return test_support::error_of([&] {
      linear_cross_entropy(Variable(Tensor::zeros({2, 4})), Variable(weight), Variable(bias), targets, {});
    });
  };
  const Tensor weight = Tensor::zeros({3, 4}), bias = Tensor::zeros({3});
  EXPECT_THAT(error(Tensor::zeros({3, 5}), bias, targets_of(2, 3)), testing::HasSubstr("hidden has width 4"));
  EXPECT_EQ(error(weight, Tensor::zeros({4}), targets_of(2, 3)), "linear_cross_entropy: bias is [4], must be [3]");
  EXPECT_EQ(error(weight, bias, Tensor::from(std::vector<int32_t>{0, 3}, {2})),
            "linear_cross_entropy: targets[1] is 3, must be in [0, 3)");
}

}  // namespace
}  // namespace dragoman::ops
