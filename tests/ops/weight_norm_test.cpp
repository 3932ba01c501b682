#include "ops/weight_norm.h"

#include <cmath>

#include "ops/elementwise.h"
#include "ops/linear.h"
#include "support/error_of.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using test_support::close;
using test_support::random_tensor;
using test_support::same_bits;

constexpr int64_t kRows = 6, kInner = 5, kWidth = 4;

// x, v, gain, bias
std::vector<Tensor> inputs(int64_t width = kWidth) {
  return {random_tensor({kRows, kInner}), random_tensor({kInner, width}, DType::kFloat64, 2),
          random_tensor({width}, DType::kFloat64, 3), random_tensor({width}, DType::kFloat64, 4)};
}

Variable normed(const std::vector<Variable>& in) {
  return weight_norm(linear(in[0], in[1], {}), {in[1], in[2], {}}, in.size() > 3 ? in[3] : Variable());
}

// Salimans and Kingma 2016, equation (2), in loops.
std::vector<double> in_loops(const std::vector<Tensor>& in) {
  const auto x = in[0].to_vector<double>(), v = in[1].to_vector<double>(), gain = in[2].to_vector<double>(),
             bias = in[3].to_vector<double>();
  std::vector<double> y;
  for (size_t n = 0; n < kRows; ++n) {
    for (size_t j = 0; j < gain.size(); ++j) {
      double square = 0.0, sum = 0.0;
      for (size_t i = 0; i < kInner; ++i) {
        square += v[i * gain.size() + j] * v[i * gain.size() + j];
        sum += x[n * kInner + i] * v[i * gain.size() + j];
      }
      y.push_back(gain[j] * sum / std::sqrt(square) + bias[j]);
    }
  }
  return y;
}

std::vector<Variable> variables_of(const std::vector<Tensor>& tensors) {
  return {tensors.begin(), tensors.end()};
}

TEST(WeightNorm, IsTheProductWithTheWholeWeight) {
  const std::vector<Tensor> in = inputs();
  const Tensor expected = Tensor::from(in_loops(in), {kRows, kWidth});
  EXPECT_TRUE(close(normed(variables_of(in)).value(), expected, 1e-12));
}

TEST(WeightNorm, GradientsAgreeWithFiniteDifferences) {
  std::vector<Tensor> in = inputs();
  test_support::check_gradients(normed, in);
  in.pop_back();
  test_support::check_gradients(normed, in);
}

// The two reasons for it: only the direction of v counts, so that its gradient is at a right angle to v.
TEST(WeightNorm, TheLengthOfADirectionDoesNotCount) {
  std::vector<Tensor> in = inputs();
  const std::vector<Tensor> grads =
      test_support::gradients(normed, in, random_tensor({kRows, kWidth}, DType::kFloat64, 9));
  const auto v = in[1].to_vector<double>(), grad = grads[1].to_vector<double>();
  for (size_t j = 0; j < kWidth; ++j) {
    double product = 0.0;
    for (size_t i = 0; i < kInner; ++i) {
      product += v[i * kWidth + j] * grad[i * kWidth + j];
    }
    EXPECT_NEAR(product, 0.0, 1e-12) << "column " << j;
  }
  std::vector<Variable> longer = variables_of(in);
  longer[1] = scale(longer[1], 3.5);
  EXPECT_TRUE(close(normed(longer).value(), normed(variables_of(in)).value(), 1e-12));
}

TEST(WeightNorm, Float32AgreesWithFloat64) {
  for (const int64_t width : {1, 7, 8, 33}) {
    const std::vector<Tensor> in = inputs(width);
    std::vector<Variable> rounded;
    for (const Tensor& tensor : in) {
      rounded.emplace_back(tensor.to(DType::kFloat32));
    }
    EXPECT_TRUE(close(normed(rounded).value(), normed(variables_of(in)).value(), 1e-5));
  }
}

TEST(WeightNorm, NormsThatWereKeptGiveTheSameBits) {
  std::vector<Variable> in;
  for (const Tensor& tensor : inputs()) {
    in.emplace_back(tensor.to(DType::kFloat32));
  }
  const Variable product = linear(in[0], in[1], {});
  const Variable kept = weight_norm(product, {Variable(), in[2], column_norms(in[1].value())}, in[3]);
  EXPECT_TRUE(same_bits(kept.value(), normed(in).value()));
}

TEST(WeightNorm, AColumnOfZerosGivesTheBias) {
  std::vector<Tensor> in = inputs();
  in[1] = Tensor::zeros({kInner, kWidth}, DType::kFloat64);
  const std::vector<double> y = normed(variables_of(in)).value().to_vector<double>(), bias = in[3].to_vector<double>();
  for (size_t i = 0; i < y.size(); ++i) {
    EXPECT_EQ(y[i], bias[i % kWidth]);
  }
}

TEST(WeightNorm, RefusesOtherShapes) {
  std::vector<Variable> in = variables_of(inputs());
  in[2] = Variable(random_tensor({3}));
  EXPECT_EQ(test_support::error_of([&] { normed(in); }), "weight_norm: gain is [3], must be [4]");
}

}  // namespace
}  // namespace dragoman::ops
