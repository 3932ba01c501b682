#include "ops/cross_entropy.h"

#include <gmock/gmock.h>

#include <cmath>

#include "ops/softmax.h"
#include "support/error_of.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using test_support::close;
using test_support::error_of;
using test_support::random_tensor;

Tensor targets_of(int64_t n_tokens, int64_t n_classes) {
  std::vector<int32_t> targets;
  for (int64_t n = 0; n < n_tokens; ++n) {
    targets.push_back(static_cast<int32_t>(n * 7 % n_classes));
  }
  return Tensor::from(targets, {n_tokens});
}

test_support::Function loss_of(const Tensor& targets, const LossOptions& options) {
  return [=](const std::vector<Variable>& in) { return cross_entropy(in[0], targets, options); };
}

TEST(CrossEntropy, IsTheSmoothedSumOfLogProbabilities) {
  const Tensor logits = random_tensor({4, 6}), targets = targets_of(4, 6);
  const auto log_probs = log_softmax(Variable(logits)).value().to_vector<double>();
  double expected = 0;
  for (size_t n = 0; n < 4; ++n) {
    for (size_t v = 0; v < 6; ++v) {
      const double wanted = 0.1 / 6 + (v == n * 7 % 6 ? 0.9 : 0.0);
      expected -= 0.5 * wanted * log_probs[n * 6 + v];
    }
  }
  EXPECT_NEAR(cross_entropy(Variable(logits), targets, {0.1F, 0.5}).value().item(), expected, 1e-7);
}

TEST(CrossEntropy, BackwardMatchesCentralDifferences) {
  for (const float smoothing : {0.0F, 0.1F}) {
    test_support::check_gradients(loss_of(targets_of(4, 6), {smoothing, 0.7}), {random_tensor({4, 6})});
  }
}

TEST(CrossEntropy, KernelMatchesReference) {
  for (const int64_t n_classes : {1, 7, 31, 33, 64, 300, 10000}) {
    const Tensor logits = random_tensor({5, n_classes}), targets = targets_of(5, n_classes);
    const Tensor small = test_support::strided_copy(logits.to(DType::kFloat32));
    for (const float smoothing : {0.0F, 0.1F}) {
      const auto loss = loss_of(targets, {smoothing, 2.0});
      const std::string label = "V=" + std::to_string(n_classes) + ", smoothing " + std::to_string(smoothing);
      EXPECT_NEAR(loss({Variable(small)}).value().item(), loss({Variable(logits)}).value().item(), 1e-4) << label;
      const Tensor one = Tensor::full({}, 1.0, DType::kFloat64);
      const Tensor expected = test_support::gradients(loss, {logits}, one)[0];
      const Tensor seen = test_support::gradients(loss, {small}, one.to(DType::kFloat32))[0];
      if (n_classes == 1) {
        EXPECT_NEAR(seen.to_vector<float>()[0], 0.0, 1e-6) << label;
      } else {
        EXPECT_TRUE(close(seen, expected, 2e-6)) << label;
      }
    }
  }
}

TEST(CrossEntropy, ExtremesStayFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Tensor logits = Tensor::from(std::vector<float>{1000, 0, -1000, -kInfinity, -1e30F, -1e30F}, {2, 3});
  const Tensor targets = Tensor::from(std::vector<int32_t>{1, 2}, {2});
  const auto loss = loss_of(targets, {});
  EXPECT_NEAR(loss({Variable(logits)}).value().item(), 1000 + std::log(2.0), 1e-3);
  const Tensor grad = test_support::gradients(loss, {logits}, Tensor::full({}, 1.0))[0];
  EXPECT_TRUE(close(grad, Tensor::from(std::vector<float>{1, -1, 0, 0, 0.5F, -0.5F}, {2, 3}), 1e-6));
}

TEST(CrossEntropy, NotANumberIsNotHidden) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Tensor logits = random_tensor({1, 40}).to(DType::kFloat32);
    logits.data<float>()[17] = bad;
    const auto loss = loss_of(targets_of(1, 40), {0.1F, 1.0});
    EXPECT_TRUE(std::isnan(loss({Variable(logits)}).value().item())) << bad;
    EXPECT_TRUE(std::isnan(test_support::gradients(loss, {logits}, Tensor::full({}, 1.0))[0].data<float>()[0])) << bad;
  }
}

TEST(CrossEntropy, NoTokensCostNothing) {
  EXPECT_EQ(cross_entropy(Variable(Tensor::zeros({0, 5})), targets_of(0, 5), {}).value().item(), 0.0);
}

TEST(CrossEntropy, NamesWhatDoesNotFit) {
  const Variable logits(Tensor::zeros({2, 5}));
  const auto targets = [](std::vector<int32_t> ids) { return Tensor::from(ids, {static_cast<int64_t>(ids.size())}); };
  EXPECT_EQ(error_of([&] {
              cross_entropy(logits, targets({4, 5}), {});
            }),
            "cross_entropy: targets[1] is 5, must be in [0, 5)");
  EXPECT_EQ(error_of([&] { cross_entropy(logits, targets({4}), {}); }), "cross_entropy: targets is [1], must be [2]");
  EXPECT_EQ(error_of([&] {
              cross_entropy(logits, targets({4, 0}), {1.5F, 1.0});
            }),
            "cross_entropy: label_smoothing is 1.5, must be in [0, 1)");
}

}  // namespace
}  // namespace dragoman::ops
