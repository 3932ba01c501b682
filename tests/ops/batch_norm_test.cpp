#include "ops/batch_norm.h"

#include <cmath>

#include "support/error_of.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using test_support::close;
using test_support::gradients;
using test_support::random_tensor;
using test_support::same_bits;
using test_support::strided_copy;

Variable normed(const std::vector<Variable>& v) {
  return batch_norm(v[0], v[1], v[2], {.epsilon = 1e-3F});
}
Variable normed_without_bias(const std::vector<Variable>& v) {
  return batch_norm(v[0], v[1], {}, {.epsilon = 1e-3F});
}

// mean and variance of running statistics
test_support::Function running(DType dtype) {
  return [dtype](const std::vector<Variable>& v) {
    const int64_t width = v[0].dim(1);
    const Tensor mean = random_tensor({width}, DType::kFloat64, 8).to(dtype);
    return running_norm(v[0], v[1], v[2], mean, Tensor::full({width}, 0.7, dtype), 1e-3F);
  };
}

// x, gain, bias
std::vector<Tensor> inputs(int64_t rows, int64_t width) {
  return {random_tensor({rows, width}), random_tensor({width}, DType::kFloat64, 2),
          random_tensor({width}, DType::kFloat64, 3)};
}

std::vector<Tensor> in_float32(const std::vector<Tensor>& wide) {
  return {strided_copy(wide[0].to(DType::kFloat32)), wide[1].to(DType::kFloat32), wide[2].to(DType::kFloat32)};
}

Tensor value_of(const test_support::Function& function, const std::vector<Tensor>& in) {
  return function(std::vector<Variable>(in.begin(), in.end())).value();
}

TEST(BatchNorm, KnownValues) {
  const Variable x(Tensor::from(std::vector<double>{1, 10, 3, 30}, {2, 2}));
  const Variable gain(Tensor::from(std::vector<double>{1, 2}, {2})), bias(Tensor::from(std::vector<double>{0, 5}, {2}));
  const Tensor y = batch_norm(x, gain, bias, {.epsilon = 1e-12F}).value();
  EXPECT_TRUE(close(y, Tensor::from(std::vector<double>{-1, 3, 1, 7}, {2, 2}), 1e-9));
}

TEST(BatchNorm, GradientsAgreeWithFiniteDifferences) {
  test_support::check_gradients(normed, inputs(7, 3));
  test_support::check_gradients(normed_without_bias, inputs(7, 3));
  test_support::check_gradients(running(DType::kFloat64), inputs(5, 3));
}

TEST(BatchNorm, Float32AgreesWithFloat64) {
  for (const int64_t width : {1, 7, 8, 31, 33, 64, 65, 300}) {
    const std::vector<Tensor> wide = inputs(19, width);
    const Tensor weights = random_tensor({19, width}, DType::kFloat64, 5);
    for (const bool in_training : {true, false}) {
      const auto small = in_training ? test_support::Function(normed) : running(DType::kFloat32);
      const auto exact = in_training ? test_support::Function(normed) : running(DType::kFloat64);
      EXPECT_TRUE(close(value_of(small, in_float32(wide)), value_of(exact, wide), 2e-6)) << width;
      const auto seen = gradients(small, in_float32(wide), weights.to(DType::kFloat32));
      const auto expected = gradients(exact, wide, weights);
      for (size_t which = 0; which < 3; ++which) {
        EXPECT_TRUE(close(seen[which], expected[which], 5e-6)) << "gradient " << which << ", width " << width;
      }
    }
  }
}

TEST(BatchNorm, ZeroRowsCountAsIfTheyWereThere) {
  const std::vector<Tensor> in = inputs(6, 3);
  Tensor padded = Tensor::zeros({10, 3}, DType::kFloat64), weights = Tensor::zeros({10, 3}, DType::kFloat64);
  const Tensor own = random_tensor({6, 3}, DType::kFloat64, 5);
  padded.rows(0, 6).copy_from(in[0]);
  weights.rows(0, 6).copy_from(own);
  const auto counting = [](const std::vector<Variable>& v) {
    return batch_norm(v[0], v[1], v[2], {.epsilon = 1e-3F, .zero_rows = 4});
  };
  test_support::check_gradients(counting, in);
  EXPECT_TRUE(close(value_of(counting, in), value_of(normed, {padded, in[1], in[2]}).rows(0, 6).clone(), 1e-12));
  const auto seen = gradients(counting, in, own), expected = gradients(normed, {padded, in[1], in[2]}, weights);
  EXPECT_TRUE(close(seen[0], expected[0].rows(0, 6).clone(), 1e-12));
  EXPECT_TRUE(close(seen[1], expected[1], 1e-12));
  EXPECT_TRUE(close(seen[2], expected[2], 1e-12));
}

// Two replicas with the sums of both: the rows and gradients of one replica with all rows.
TEST(BatchNorm, PartsWithCommonSumsEqualTheWhole) {
  const std::vector<Tensor> whole = inputs(9, 5);
  const Tensor weights = random_tensor({9, 5}, DType::kFloat64, 5);
  const std::vector<Tensor> expected = gradients(normed, whole, weights);
  // First each part computes its sums, forward and backward; then it gets those of both.
  std::vector<std::vector<double>> sums[2];
  for (const bool is_first_time : {true, false}) {
    for (size_t part = 0; part < 2; ++part) {
      const int64_t begin = part == 0 ? 0 : 4, end = part == 0 ? 4 : 9;
      size_t call = 0;
      double rows = 0;
      const auto function = [&](const std::vector<Variable>& v) {
        BatchNormOptions options{.epsilon = 1e-3F};
        options.sum_over_replicas = [&](std::span<double> values) {
          if (is_first_time && call == 0) {
            sums[part].emplace_back(values.begin(), values.end());
          } else if (!is_first_time) {
            for (size_t i = 0; i < values.size(); ++i) {
              values[i] = call == 0 ? sums[0][0][i] + sums[1][0][i] : sums[0][1][i] + sums[1][1][i];
            }
          }
          ++call;
        };
        options.keep = [&](const BatchMoments& moments) { rows = moments.rows; };
        return batch_norm(v[0], v[1], v[2], options);
      };
      const std::vector<Tensor> own = {whole[0].rows(begin, end).clone(), whole[1], whole[2]};
      if (is_first_time) {
        value_of(function, own);
        // Sums of the backward, by the means of the whole: sum dy, sum dy (x - mean).
        std::vector<double> backward(10);
        for (int64_t c = 0; c < 5; ++c) {
          double mean = 0;
          for (int64_t n = 0; n < 9; ++n) {
            mean += whole[0].data<double>()[n * 5 + c] / 9;
          }
          for (int64_t n = begin; n < end; ++n) {
            const double dy = weights.data<double>()[n * 5 + c];
            backward[static_cast<size_t>(c)] += dy;
            backward[static_cast<size_t>(5 + c)] += dy * (whole[0].data<double>()[n * 5 + c] - mean);
          }
        }
        sums[part].push_back(backward);
      } else {
        const auto seen = gradients(function, own, weights.rows(begin, end).clone());
        EXPECT_TRUE(close(seen[0], expected[0].rows(begin, end).clone(), 1e-12)) << "part " << part;
        EXPECT_EQ(rows, 9);
      }
    }
  }
}

TEST(BatchNorm, KeepsItsMomentsOnceAndInTheBackward) {
  const std::vector<Tensor> in = inputs(6, 2);
  std::vector<BatchMoments> kept;
  const auto function = [&](const std::vector<Variable>& v) {
    BatchNormOptions options;
    options.keep = [&](const BatchMoments& moments) { kept.push_back(moments); };
    return batch_norm(v[0], v[1], v[2], options);
  };
  value_of(function, in);
  EXPECT_TRUE(kept.empty());
  gradients(function, in, random_tensor({6, 2}, DType::kFloat64, 5));
  ASSERT_EQ(kept.size(), 1U);
  double mean = 0, squares = 0;
  for (int64_t n = 0; n < 6; ++n) {
    mean += in[0].data<double>()[2 * n] / 6;
    squares += std::pow(in[0].data<double>()[2 * n], 2);
  }
  EXPECT_NEAR(kept[0].mean[0], mean, 1e-12);
  EXPECT_NEAR(kept[0].variance[0], (squares - 6 * mean * mean) / 5, 1e-12);
}

// Outside training a row depends on that row alone.
TEST(RunningNorm, ARowAloneEqualsItInABatchBitForBit) {
  const std::vector<Tensor> in = in_float32(inputs(9, 37));
  const Tensor together = value_of(running(DType::kFloat32), in);
  const Tensor alone = value_of(running(DType::kFloat32), {in[0].rows(4, 5), in[1], in[2]});
  EXPECT_TRUE(same_bits(alone, together.rows(4, 5).clone()));
}

TEST(BatchNorm, NoRowsAreNoRows) {
  const Tensor none = Tensor::zeros({0, 4}), row = Tensor::full({4}, 1.0);
  EXPECT_EQ(value_of(normed, {none, row, row}).shape(), (tensor::Shape{0, 4}));
}

TEST(BatchNorm, RefusesOtherShapes) {
  const Variable x(Tensor::zeros({3, 4})), gain(Tensor::zeros({3})), row(Tensor::zeros({4}));
  EXPECT_EQ(test_support::error_of([&] { batch_norm(x, gain, {}, {}); }), "batch_norm: gain is [3], must be [4]");
  EXPECT_EQ(test_support::error_of([&] { batch_norm(x, row, row, {.epsilon = 0.0F}); }),
            "batch_norm: epsilon is 0, must be above 0");
}

}  // namespace
}  // namespace dragoman::ops
