// Laws of vectors of texts: the mean of the rows, length 1, and the loss that tells pairs apart.
#include "ops/text_vectors.h"

#include <gmock/gmock.h>

#include <cmath>

#include "ops/contrastive_loss.h"
#include "support/error_of.h"
#include "support/gradient_check.h"
#include "tensor/transfer.h"

namespace dragoman::ops {
namespace {

using test_support::close;
using test_support::error_of;
using test_support::gradients;
using test_support::random_tensor;
using test_support::same_bits;
using test_support::strided_copy;
using testing::HasSubstr;

const std::vector<int32_t> kTexts = {0, 4, 5, 11};
const std::vector<int32_t> kGroups = {0, 3, 4, 9};
constexpr int64_t kPairs = 9;

Variable mean_of(const std::vector<Variable>& in) {
  return mean_of_texts(in[0], tensor::host_tensor(kTexts));
}
Variable unit_of(const std::vector<Variable>& in) {
  return unit_rows(in[0]);
}
test_support::Function loss_of(double temperature, double scale = 1.0) {
  return [=](const std::vector<Variable>& in) {
    return contrastive_loss(in[0], in[1], kGroups, {temperature, scale}).loss;
  };
}

TEST(TextVectors, BackwardMatchesCentralDifferences) {
  test_support::check_gradients(mean_of, {random_tensor({11, 3})});
  test_support::check_gradients(unit_of, {random_tensor({5, 4})});
}

TEST(TextVectors, KernelsMatchTheReference) {
  for (const int64_t columns : {3, 7, 8, 31, 33, 300}) {  // of one column the gradient of the length is 0
    const Tensor x = random_tensor({11, columns});
    const Tensor small = strided_copy(x.to(DType::kFloat32));
    for (const test_support::Function& function : {test_support::Function(mean_of), test_support::Function(unit_of)}) {
      const Tensor exact = function({Variable(x)}).value();
      const Tensor weights = random_tensor(exact.shape(), DType::kFloat64, 2);
      EXPECT_TRUE(close(function({Variable(small)}).value(), exact, 1e-6)) << columns;
      EXPECT_TRUE(close(gradients(function, {small}, weights.to(DType::kFloat32))[0],
                        gradients(function, {x}, weights)[0], 4e-6))
          << columns;
    }
  }
}

TEST(TextVectors, AMeanHasTheSameBitsAloneAndInABatch) {
  const Tensor x = random_tensor({11, 33}).to(DType::kFloat32);
  const Tensor together = mean_of({Variable(x)}).value();  // [3, 33]
  const Tensor alone = mean_of_texts(Variable(x.rows(5, 11)), tensor::host_tensor(std::vector<int32_t>{0, 6})).value();
  EXPECT_TRUE(same_bits(alone, together.rows(2, 3)));
}

TEST(TextVectors, RowsOfZerosStayFinite) {
  const Tensor zeros = Tensor::zeros({2, 3}, DType::kFloat32), ones = Tensor::full({2, 3}, 1.0, DType::kFloat32);
  for (const Tensor& seen : {unit_rows(Variable(zeros)).value(), gradients(unit_of, {zeros}, ones)[0]}) {
    for (const float value : seen.to_vector<float>()) {
      EXPECT_TRUE(std::isfinite(value));
    }
  }
}

TEST(TextVectors, TextsWithoutRowsAreRefused) {
  const Tensor offsets = tensor::host_tensor(std::vector<int32_t>{0, 2, 2, 4});
  EXPECT_THAT(error_of([&] {
                mean_of_texts(Variable(random_tensor({4, 3})), offsets);
              }),
              HasSubstr("text 1 has no rows"));
}

// As written in the contract, in plain loops.
double naive_loss(const Tensor& left, const Tensor& right, double temperature,
                  const std::vector<int32_t>& candidates = kGroups) {
  const int64_t width = left.dim(1);
  const std::vector<double> l = left.to_vector<double>(), r = right.to_vector<double>();
  const auto cosine = [&](int64_t i, int64_t j) {
    double dot = 0, of_l = 0, of_r = 0;
    for (int64_t c = 0; c < width; ++c) {
      const double a = l[static_cast<size_t>(i * width + c)], b = r[static_cast<size_t>(j * width + c)];
      dot += a * b;
      of_l += a * a;
      of_r += b * b;
    }
    return dot / std::sqrt(of_l * of_r);
  };
  double loss = 0;
  for (size_t group = 0; group + 1 < kGroups.size(); ++group) {
    for (int64_t i = kGroups[group]; i < kGroups[group + 1]; ++i) {
      double sum = 0;
      for (int64_t j = candidates[group]; j < candidates[group + 1]; ++j) {
        sum += std::exp(cosine(i, j) / temperature);
      }
      loss += std::log(sum) - cosine(i, candidates[group] + i - kGroups[group]) / temperature;
    }
  }
  return loss;
}

TEST(ContrastiveLoss, IsTheFormulaAndItsGradientsMatchCentralDifferences) {
  const Tensor left = random_tensor({kPairs, 4}), right = random_tensor({kPairs, 4}, DType::kFloat64, 3);
  for (const double temperature : {0.05, 0.5, 2.0}) {
    const LossResult result = contrastive_loss(Variable(left), Variable(right), kGroups, {temperature, 0.25});
    EXPECT_NEAR(result.nll, naive_loss(left, right, temperature), 1e-10);
    EXPECT_NEAR(result.loss.value().item(), 0.25 * result.nll, 1e-10);
    test_support::check_gradients(loss_of(temperature, 0.25), {left, right}, 2e-6);
  }
}

TEST(ContrastiveLoss, HardNegativesJoinTheSumOfTheirGroup) {
  const std::vector<int32_t> candidates = {0, 5, 6, 16};  // 2, 0 and 5 more than pairs
  const Tensor left = random_tensor({kPairs, 4}), right = random_tensor({16, 4}, DType::kFloat64, 3);
  for (const double temperature : {0.05, 0.5, 2.0}) {
    const auto loss = [&](const std::vector<Variable>& in) {
      return contrastive_loss(in[0], in[1], kGroups, {temperature, 0.25}, candidates);
    };
    EXPECT_NEAR(loss({Variable(left), Variable(right)}).nll, naive_loss(left, right, temperature, candidates), 1e-10);
    test_support::check_gradients([&](const std::vector<Variable>& in) { return loss(in).loss; }, {left, right}, 2e-6);
  }
  const Tensor plain = random_tensor({kPairs, 4}, DType::kFloat64, 3);
  EXPECT_EQ(contrastive_loss(Variable(left), Variable(plain), kGroups, {}, kGroups).nll,
            contrastive_loss(Variable(left), Variable(plain), kGroups, {}).nll);
}

TEST(ContrastiveLoss, Float32AgreesWithFloat64) {
  for (const int64_t columns : {3, 33, 256}) {
    const Tensor left = random_tensor({kPairs, columns}), right = random_tensor({kPairs, columns}, DType::kFloat64, 3);
    const Tensor one = Tensor::full({}, 1.0, DType::kFloat64);
    const auto seen =
        gradients(loss_of(0.5), {left.to(DType::kFloat32), right.to(DType::kFloat32)}, one.to(DType::kFloat32));
    const auto exact = gradients(loss_of(0.5), {left, right}, one);
    EXPECT_TRUE(close(seen[0], exact[0], 1e-5)) << columns;
    EXPECT_TRUE(close(seen[1], exact[1], 1e-5)) << columns;
  }
}

TEST(ContrastiveLoss, CountsThePairsThatAreFoundAndDoesNotSeeOtherGroups) {
  const Tensor left = random_tensor({kPairs, 16}).to(DType::kFloat32);
  EXPECT_EQ(contrastive_loss(Variable(left), Variable(left), kGroups, {}).correct, kPairs);
  const Tensor right = random_tensor({kPairs, 16}, DType::kFloat64, 3).to(DType::kFloat32);
  double sum = 0.0;
  for (size_t group = 0; group + 1 < kGroups.size(); ++group) {
    const int32_t begin = kGroups[group], end = kGroups[group + 1];
    sum += contrastive_loss(Variable(left.rows(begin, end)), Variable(right.rows(begin, end)),
                            std::vector<int32_t>{0, end - begin}, {})
               .nll;
  }
  EXPECT_NEAR(contrastive_loss(Variable(left), Variable(right), kGroups, {}).nll, sum, 1e-5 * sum);
}

TEST(ContrastiveLoss, WrongArgumentsAreRefused) {
  const Variable nine(random_tensor({kPairs, 4})), four(random_tensor({4, 4}));
  EXPECT_THAT(error_of([&] { contrastive_loss(nine, four, kGroups, {}); }), HasSubstr("right is [4, 4]"));
  EXPECT_THAT(error_of([&] { contrastive_loss(nine, nine, kGroups, {.temperature = 0.0}); }),
              HasSubstr("temperature is 0"));
  EXPECT_THAT(error_of([&] { contrastive_loss(nine, nine, std::vector<int32_t>{0, 8}, {}); }), HasSubstr("offsets"));
  EXPECT_THAT(error_of([&] {
                contrastive_loss(nine, nine, kGroups, {}, std::vector<int32_t>{0, 2, 3, 9});
              }),
              HasSubstr("group 0 has 2 candidates for 3 pairs"));
  EXPECT_THAT(error_of([&] {
                contrastive_loss(nine, nine, kGroups, {}, std::vector<int32_t>{0, 9});
              }),
              HasSubstr("3 groups of pairs, 1 of candidates"));
}

}  // namespace
}  // namespace dragoman::ops
