#include "ops/two_pass_cross_entropy.h"

#include <gmock/gmock.h>

#include "loss_outcome.h"
#include "ops/elementwise.h"
#include "ops/linear_cross_entropy.h"
#include "ops/matmul.h"
#include "ops/softmax.h"
#include "support/error_of.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using test_support::close;
using test_support::random_tensor;

constexpr TwoPassOptions kOptions{{0.1F, 0.25}, 3.0};
constexpr TwoPassOptions kSimCut{{0.1F, 0.25}, 3.0, kernels::TwoPassLoss::kSimCut};

// The hidden rows of both passes, and the weight.
std::vector<Tensor> inputs_of(int64_t n_tokens, int64_t n_classes, int64_t d_model, DType dtype) {
  return {random_tensor({n_tokens, d_model}, dtype, 1), random_tensor({n_tokens, d_model}, dtype, 2),
          random_tensor({n_classes, d_model}, dtype, 3)};
}

// The fourth input, where there is one.
Variable bias_of(const std::vector<Variable>& in) {
  return in.size() > 3 ? in[3] : Variable();
}

test_support::Function fused(const Tensor& targets, const TwoPassOptions& options = kOptions) {
  return [=](const std::vector<Variable>& in) {
    return two_pass_cross_entropy(in[0], in[1], in[2], bias_of(in), targets, options).loss;
  };
}

// R-Drop, (CE(p) + CE(q)) / 2 + alpha / 4 * sum (p - q) (log p - log q), or SimCut,
// CE(p) + alpha * sum p (log p - log q), of the logits of both passes, from ops that are tested by themselves.
Variable composition_of_logits(const Variable& logits_p, const Variable& logits_q, const Tensor& targets,
                               const TwoPassOptions& options = kOptions) {
  const LossOptions& loss = options.cross_entropy;
  const Variable log_p = log_softmax(logits_p), log_q = log_softmax(logits_q);
  if (options.loss == kernels::TwoPassLoss::kSimCut) {
    const Variable divergence = sum(multiply(exp(log_p), subtract(log_p, log_q)));
    return add(cross_entropy(logits_p, targets, loss), scale(divergence, options.alpha * loss.gradient_scale));
  }
  const Variable divergence = sum(multiply(subtract(exp(log_p), exp(log_q)), subtract(log_p, log_q)));
  const Variable both = add(cross_entropy(logits_p, targets, loss), cross_entropy(logits_q, targets, loss));
  return add(scale(both, 0.5), scale(divergence, options.alpha / 4 * loss.gradient_scale));
}

test_support::Function composition(const Tensor& targets, const TwoPassOptions& options) {
  return [=](const std::vector<Variable>& in) {
    return composition_of_logits(matmul(in[0], Transpose::kNo, in[2], Transpose::kYes),
                                 matmul(in[1], Transpose::kNo, in[2], Transpose::kYes), targets, options);
  };
}

TEST(TwoPassCrossEntropy, BackwardMatchesCentralDifferences) {
  const auto inputs = inputs_of(4, 5, 3, DType::kFloat64);
  test_support::check_gradients(fused(targets_of(4, 5)), inputs);
  test_support::check_gradients(fused(targets_of(4, 5), {{0.0F, 1.0}, 0.0}), inputs);
  test_support::check_gradients(fused(targets_of(4, 5), kSimCut), inputs);
  auto with_bias = inputs;
  with_bias.push_back(random_tensor({5}, DType::kFloat64, 4));
  test_support::check_gradients(fused(targets_of(4, 5)), with_bias);
}

// 300 tokens make three chunks, the last one partial.
TEST(TwoPassCrossEntropy, EqualsItsComposition) {
  const Tensor targets = targets_of(300, 37);
  const auto inputs = inputs_of(300, 37, 16, DType::kFloat64);
  for (const TwoPassOptions& options : {kOptions, kSimCut}) {
    const Outcome simple = outcome_of(composition(targets, options), inputs);
    const Outcome seen = outcome_of(fused(targets, options), inputs);
    EXPECT_NEAR(seen.loss, simple.loss, 1e-9 * simple.loss);
    for (size_t input = 0; input < inputs.size(); ++input) {
      EXPECT_TRUE(close(seen.gradients[input], simple.gradients[input], 1e-12)) << "input " << input;
    }
  }
}

TEST(TwoPassCrossEntropy, KernelMatchesReference) {
  for (const auto& [n_tokens, n_classes, d_model] :
       std::vector<std::array<int64_t, 3>>{{1, 1, 4}, {1, 7, 5}, {33, 300, 64}, {200, 31, 33}, {257, 1000, 32}}) {
    const Tensor targets = targets_of(n_tokens, n_classes);
    for (const TwoPassOptions& options : {kOptions, kSimCut}) {
      const auto function = fused(targets, options);
      const Outcome exact = outcome_of(function, inputs_of(n_tokens, n_classes, d_model, DType::kFloat64));
      const Outcome seen = outcome_of(function, inputs_of(n_tokens, n_classes, d_model, DType::kFloat32));
      EXPECT_NEAR(seen.loss, exact.loss, 1e-6 * std::max(exact.loss, 1.0)) << "N=" << n_tokens;
      for (size_t input = 0; input < 3; ++input) {
        EXPECT_TRUE(close(seen.gradients[input], exact.gradients[input], 1e-5))
            << "N=" << n_tokens << ", V=" << n_classes << ", input " << input;
      }
    }
  }
}

// a^T b in float64, or a b.
Tensor product(const Tensor& a, Transpose transpose, const Tensor& b) {
  Tensor c = Tensor::empty({a.dim(transpose == Transpose::kYes ? 1 : 0), b.dim(1)}, DType::kFloat64);
  gemm(a, transpose, b.to(DType::kFloat64), Transpose::kNo, c);
  return c;
}

// With a packed copy in bfloat16, where logits may come in parts (LogitParts): several chunks of tokens, several parts
// of classes, rests of both. The gradients are products of rounded numbers.
TEST(TwoPassCrossEntropy, BFloat16IsTheLossOfItsLogits) {
  for (const auto& [n_tokens, n_classes, d_model] :
       std::vector<std::array<int64_t, 3>>{{1, 7, 5}, {33, 480, 64}, {128, 50, 32}, {700, 1303, 33}, {513, 500, 32}}) {
    const auto inputs = inputs_of(n_tokens, n_classes, d_model, DType::kFloat32);
    const Tensor targets = targets_of(n_tokens, n_classes);
    PackedWeight copy(inputs[2].shape(), {Precision::kBFloat16, Transpose::kYes, true});
    copy.pack(inputs[2], 0, copy.panels());
    const auto logits_of = [&](const Tensor& hidden) {
      Tensor logits = Tensor::empty({hidden.dim(0), inputs[2].dim(0)});
      copy.forward().multiply(hidden, {}, logits);
      return logits.to(DType::kFloat64);
    };
    const auto of_logits = [&](const std::vector<Variable>& in) {
      return composition_of_logits(in[0], in[1], targets);
    };
    const auto with_copy = [&](const std::vector<Variable>& in) {
      return two_pass_cross_entropy(in[0], in[1], {in[2], &copy}, Variable(), targets, kOptions).loss;
    };
    const Outcome exact = outcome_of(of_logits, {logits_of(inputs[0]), logits_of(inputs[1])});
    const Outcome seen = outcome_of(with_copy, inputs);
    const auto label = [&, n = n_tokens, v = n_classes] { return testing::Message() << "N=" << n << ", V=" << v; };
    EXPECT_NEAR(seen.loss / exact.loss, 1.0, 2e-6) << label();
    for (const size_t pass : {0, 1}) {
      const Tensor grad_hidden = product(exact.gradients[pass], Transpose::kNo, inputs[2]);
      EXPECT_TRUE(close(seen.gradients[pass], grad_hidden, 2e-2)) << "hidden of pass " << pass << ", " << label();
    }
    Tensor grad_weight = product(exact.gradients[0], Transpose::kYes, inputs[0]);
    gemm_accumulate(exact.gradients[1], Transpose::kYes, inputs[1].to(DType::kFloat64), Transpose::kNo, grad_weight);
    EXPECT_TRUE(close(seen.gradients[2], grad_weight, 2e-2)) << "weight, " << label();
    const double untaped = with_copy({Variable(inputs[0]), Variable(inputs[1]), Variable(inputs[2])}).value().item();
    EXPECT_EQ(untaped, seen.loss) << "without a tape, " << label();
  }
}

// Two passes that agree cost what one pass costs, and pull the weight as it does.
TEST(TwoPassCrossEntropy, EqualPassesAreThePlainLoss) {
  const Tensor targets = targets_of(40, 50), hidden = random_tensor({40, 8}, DType::kFloat32);
  const Tensor weight = random_tensor({50, 8}, DType::kFloat32, 2);
  const auto plain = [&](const std::vector<Variable>& in) {
    return linear_cross_entropy(in[0], in[1], Variable(), targets, kOptions.cross_entropy).loss;
  };
  const Outcome one = outcome_of(plain, {hidden, weight}), two = outcome_of(fused(targets), {hidden, hidden, weight});
  EXPECT_NEAR(two.loss, one.loss, 1e-6 * one.loss);
  EXPECT_TRUE(close(two.gradients[2], one.gradients[1], 1e-5)) << "gradient of weight";
}

// p = (1/2, 1/2), q = (1/4, 3/4): KL(p || q) = log(2 / sqrt(3)), KL(q || p) = 3/4 log 3 - log 2.
TEST(TwoPassCrossEntropy, PartsAreThoseOfTheFormula) {
  const Variable weight(Tensor::from(std::vector<float>{0, std::log(3.0F)}, {2, 1}));
  const Variable first(Tensor::zeros({1, 1})), second(Tensor::full({1, 1}, 1.0));
  const Tensor targets = Tensor::from(std::vector<int32_t>{0}, {1});
  const TwoPassResult result = two_pass_cross_entropy(first, second, weight, {}, targets, {{0.0F, 0.5}, 5.0});
  const double divergence = (std::log(2 / std::sqrt(3.0)) + 0.75 * std::log(3.0) - std::log(2.0)) / 2;
  EXPECT_NEAR(result.divergence, divergence, 1e-7);
  EXPECT_NEAR(result.nll, (std::log(2.0) + std::log(4.0)) / 2, 1e-6);
  EXPECT_NEAR(result.smoothed, result.nll, 1e-12) << "no smoothing was asked for";
  EXPECT_EQ(result.correct, 1) << "class 0 is the lowest id of the largest logits of the first pass";
  EXPECT_NEAR(result.loss.value().item(), 0.5 * (result.nll + 2.5 * divergence), 1e-6);
}

// The same rows for SimCut: the first pass alone learns the target, and KL(p || q) stands alone.
TEST(TwoPassCrossEntropy, PartsOfSimCutAreThoseOfTheFormula) {
  const Variable weight(Tensor::from(std::vector<float>{0, std::log(3.0F)}, {2, 1}));
  const Variable first(Tensor::zeros({1, 1})), second(Tensor::full({1, 1}, 1.0));
  const Tensor targets = Tensor::from(std::vector<int32_t>{0}, {1});
  const TwoPassResult result =
      two_pass_cross_entropy(first, second, weight, {}, targets, {{0.0F, 0.5}, 3.0, kernels::TwoPassLoss::kSimCut});
  const double divergence = std::log(2 / std::sqrt(3.0));
  EXPECT_NEAR(result.divergence, divergence, 1e-7);
  EXPECT_NEAR(result.nll, std::log(2.0), 1e-6);
  EXPECT_NEAR(result.loss.value().item(), 0.5 * (std::log(2.0) + 3 * divergence), 1e-6);
}

// Distributions that are sharp, far apart and nearly equal: finite, never below zero beyond rounding.
TEST(TwoPassCrossEntropy, ExtremesStayFinite) {
  for (const double size : {1e-4, 1.0, 60.0}) {
    const auto inputs = inputs_of(5, 40, 8, DType::kFloat32);
    const Tensor targets = targets_of(5, 40);
    std::vector<Tensor> scaled = inputs;
    scaled[2] = Tensor::empty(inputs[2].shape());
    std::ranges::transform(inputs[2].span<float>(), scaled[2].span<float>().begin(),
                           [&](float x) { return static_cast<float>(size) * x; });
    const TwoPassResult result =
        two_pass_cross_entropy(Variable(scaled[0]), Variable(scaled[1]), Variable(scaled[2]), {}, targets, kOptions);
    EXPECT_TRUE(std::isfinite(result.loss.value().item())) << "weight of size " << size;
    EXPECT_GE(result.divergence, 0.0) << "weight of size " << size;
    for (const Tensor& gradient : outcome_of(fused(targets), scaled).gradients) {
      for (const float value : gradient.span<float>()) {
        ASSERT_TRUE(std::isfinite(value)) << "weight of size " << size;
      }
    }
  }
}

TEST(TwoPassCrossEntropy, GivesTheSameLossWithoutATape) {
  const auto inputs = inputs_of(200, 50, 8, DType::kFloat32);
  const Tensor targets = targets_of(200, 50);
  const double loss = fused(targets)({Variable(inputs[0]), Variable(inputs[1]), Variable(inputs[2])}).value().item();
  EXPECT_EQ(loss, outcome_of(fused(targets), inputs).loss);
}

TEST(TwoPassCrossEntropy, NoTokensGiveZero) {
  const auto inputs = inputs_of(0, 5, 4, DType::kFloat32);
  const TwoPassResult result = two_pass_cross_entropy(Variable(inputs[0]), Variable(inputs[1]), Variable(inputs[2]), {},
                                                      targets_of(0, 5), kOptions);
  EXPECT_EQ(result.loss.value().item(), 0.0);
}

TEST(TwoPassCrossEntropy, NamesWhatDoesNotFit) {
  const auto error = [](const Tensor& second, const Tensor& weight, const TwoPassOptions& options) {
    return test_support::error_of([&] {
      two_pass_cross_entropy(Variable(Tensor::zeros({2, 4})), Variable(second), Variable(weight), {}, targets_of(2, 3),
                             options);
    });
  };
  const Tensor fits = Tensor::zeros({2, 4}), weight = Tensor::zeros({3, 4});
  EXPECT_EQ(error(Tensor::zeros({3, 4}), weight, kOptions), "two_pass_cross_entropy: second is [3, 4], must be [2, 4]");
  EXPECT_THAT(error(fits, Tensor::zeros({3, 5}), kOptions), testing::HasSubstr("hidden has width 4"));
  EXPECT_EQ(error(fits, weight, {{}, -1.0}), "two_pass_cross_entropy: alpha is -1, must be >= 0 and finite");
  EXPECT_THAT(error(fits, weight, {{1.5F, 1.0}, 1.0}), testing::HasSubstr("label_smoothing is 1.5"));
}

TEST(TwoPassCrossEntropy, RefusesAScaledGradient) {
  const Variable hidden(Tensor::zeros({1, 2}), true), weight(Tensor::zeros({3, 2}), true);
  autograd::Tape tape;
  const autograd::TapeScope scope(&tape);
  const Variable loss = two_pass_cross_entropy(hidden, hidden, weight, {}, targets_of(1, 3), {}).loss;
  EXPECT_EQ(test_support::error_of([&] { tape.backward(loss, 0.5); }),
            "two_pass_cross_entropy: the gradient of the loss is 0.5, must be 1; use gradient_scale");
}

}  // namespace
}  // namespace dragoman::ops
