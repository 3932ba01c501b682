// The formulas of docs/derivations.md that no other test states, each computed in the way of its derivation.
#include <gtest/gtest.h>

#include <cmath>

#include "ops/attention.h"
#include "ops/cross_entropy.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/layer_norm.h"
#include "ops/matmul.h"
#include "ops/softmax.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using test_support::close;
using test_support::gradients;
using test_support::random_tensor;

Tensor product(const Tensor& a, const Tensor& b, Transpose transpose_a = Transpose::kNo,
               Transpose transpose_b = Transpose::kNo) {
  return matmul(Variable(a), transpose_a, Variable(b), transpose_b).value();
}

Tensor scaled(const Tensor& x, double factor) {
  return scale(Variable(x), factor).value();
}

Tensor transposed(const Tensor& x) {
  Tensor y = Tensor::empty({x.dim(1), x.dim(0)}, x.dtype());
  for (int64_t row = 0; row < x.dim(0); ++row) {
    for (int64_t column = 0; column < x.dim(1); ++column) {
      y.data<double>()[column * x.dim(0) + row] = x.data<double>()[row * x.stride(0) + column];
    }
  }
  return y;
}

// sum_c left[row][c] * right[row][c], for contiguous matrices.
std::vector<double> row_products(const Tensor& left, const Tensor& right) {
  std::vector<double> sums(static_cast<size_t>(left.dim(0)));
  for (int64_t i = 0; i < left.size(); ++i) {
    sums[static_cast<size_t>(i / left.dim(1))] += left.data<double>()[i] * right.data<double>()[i];
  }
  return sums;
}

Tensor ids_of(const std::vector<int32_t>& ids) {
  return Tensor::from(ids, {static_cast<int64_t>(ids.size())});
}

// Bounds of one sentence.
AttentionBounds bounds_of(int64_t n_queries, int64_t n_keys) {
  return {ids_of({0, static_cast<int32_t>(n_queries)}), ids_of({0, static_cast<int32_t>(n_keys)}), {}};
}

Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionOptions& options = {}) {
  const AttentionBounds bounds = bounds_of(query.dim(0), key.dim(0));
  return attention(Variable(query), Variable(key), Variable(value), bounds, options).value();
}

TEST(Derivations, EmbeddingIsAOneHotProduct) {
  const Tensor table = random_tensor({5, 4}), ids = ids_of({3, 0, 3});
  Tensor one_hot = Tensor::zeros({3, 5}, DType::kFloat64);
  for (int64_t n = 0; n < 3; ++n) {
    one_hot.data<double>()[n * 5 + ids.data<int32_t>()[n]] = 1.0;
  }
  const auto looked_up = [&](const std::vector<Variable>& in) { return embedding(in[0], ids, 2.0F); };
  EXPECT_TRUE(close(looked_up({Variable(table)}).value(), scaled(product(one_hot, table), 2.0), 1e-15));
  const Tensor grad = random_tensor({3, 4}, DType::kFloat64, 2);
  EXPECT_TRUE(
      close(gradients(looked_up, {table}, grad)[0], scaled(product(one_hot, grad, Transpose::kYes), 2.0), 1e-15));
}

constexpr int64_t kWidth = 16;

double rate_of(int64_t pair) {
  return std::pow(10000.0, -2.0 * static_cast<double>(pair) / static_cast<double>(kWidth));
}

TEST(Derivations, AShiftOfPositionsIsARotation) {
  const Tensor table = sinusoidal_positions(200, kWidth);
  for (const int64_t shift : {1, 7, 64}) {
    for (int64_t position = 0; position + shift < 200; position += 11) {
      const float* from = table.data<float>() + position * kWidth;
      const float* to = table.data<float>() + (position + shift) * kWidth;
      for (int64_t pair = 0; pair < kWidth / 2; ++pair) {
        const double angle = static_cast<double>(shift) * rate_of(pair);
        const double sine = from[2 * pair], cosine = from[2 * pair + 1];
        EXPECT_NEAR(to[2 * pair], std::cos(angle) * sine + std::sin(angle) * cosine, 3e-7) << position << shift;
        EXPECT_NEAR(to[2 * pair + 1], -std::sin(angle) * sine + std::cos(angle) * cosine, 3e-7) << position << shift;
      }
    }
  }
}

TEST(Derivations, ProductsOfPositionsDependOnTheirDistanceAlone) {
  const Tensor table = sinusoidal_positions(60, kWidth).to(DType::kFloat64);
  const Tensor products = product(table, table, Transpose::kNo, Transpose::kYes);  // [60, 60]
  for (int64_t p = 0; p < 60; ++p) {
    for (int64_t q = 0; q < 60; ++q) {
      double expected = 0;
      for (int64_t pair = 0; pair < kWidth / 2; ++pair) {
        expected += std::cos(static_cast<double>(p - q) * rate_of(pair));
      }
      EXPECT_NEAR(products.data<double>()[p * 60 + q], expected, 1e-6) << "positions " << p << " and " << q;
    }
  }
}

// Keys x, values y and a query q of a kernel regression with numbers.
const std::vector<double> kKeys = {0.0, 0.4, 1.1, 2.0}, kValues = {1.0, -1.0, 0.5, 3.0};
constexpr double kQuery = 0.7;

double gaussian_regression(double width) {
  double sum = 0, total = 0;
  for (size_t i = 0; i < kKeys.size(); ++i) {
    const double kernel = std::exp(-0.5 * std::pow((kQuery - kKeys[i]) / width, 2));
    sum += kernel * kValues[i];
    total += kernel;
  }
  return sum / total;
}

// softmax(-(q - x)^2 e^theta) y, as a function of theta.
Variable regression_by_softmax(const Variable& theta) {
  std::vector<double> squares;
  for (const double key : kKeys) {
    squares.push_back(-(kQuery - key) * (kQuery - key));
  }
  const Variable scores = multiply(Variable(Tensor::from(squares, {1, 4})), exp(theta));
  return matmul(softmax(scores), Transpose::kNo, Variable(Tensor::from(kValues, {4, 1})), Transpose::kNo);
}

TEST(Derivations, GaussianKernelRegressionIsASoftmaxOfDistances) {
  for (const double width : {0.3, 1.0, 5.0}) {
    const Variable theta(Tensor::full({1}, -std::log(2.0 * width * width), DType::kFloat64));
    EXPECT_NEAR(regression_by_softmax(theta).value().item(), gaussian_regression(width), 1e-13) << "width " << width;
  }
}

TEST(Derivations, TheGradientOfTheWidthIsACovariance) {
  constexpr double kTheta = -0.3;
  double total = 0, mean_score = 0, expected = 0;
  const auto score = [](size_t i) { return -std::pow(kQuery - kKeys[i], 2) * std::exp(kTheta); };
  for (size_t i = 0; i < kKeys.size(); ++i) {
    total += std::exp(score(i));
  }
  for (size_t i = 0; i < kKeys.size(); ++i) {
    mean_score += std::exp(score(i)) / total * score(i);
  }
  for (size_t i = 0; i < kKeys.size(); ++i) {
    expected += std::exp(score(i)) / total * (score(i) - mean_score) * kValues[i];
  }
  const Tensor grad =
      gradients([](const auto& in) { return regression_by_softmax(in[0]); },
                {Tensor::full({1}, kTheta, DType::kFloat64)}, Tensor::full({1, 1}, 1.0, DType::kFloat64))[0];
  EXPECT_NEAR(grad.item(), expected, 1e-13);
}

TEST(Derivations, WithKeysOfEqualLengthKernelRegressionIsAttention) {
  const Tensor query = random_tensor({3, 4}), value = random_tensor({5, 2}, DType::kFloat64, 3);
  Tensor key = random_tensor({5, 4}, DType::kFloat64, 2);
  const std::vector<double> squares = row_products(key, key);
  for (int64_t i = 0; i < key.size(); ++i) {
    key.data<double>()[i] /= std::sqrt(squares[static_cast<size_t>(i / 4)]);
  }
  const double width_squared = std::sqrt(4.0);
  Tensor scores = Tensor::empty({3, 5}, DType::kFloat64);
  for (int64_t t = 0; t < 3; ++t) {
    for (int64_t s = 0; s < 5; ++s) {
      double square = 0;
      for (int64_t c = 0; c < 4; ++c) {
        square += std::pow(query.data<double>()[t * 4 + c] - key.data<double>()[s * 4 + c], 2);
      }
      scores.data<double>()[t * 5 + s] = -square / (2.0 * width_squared);
    }
  }
  EXPECT_TRUE(close(attend(query, key, value), product(softmax(Variable(scores)).value(), value), 1e-13));
}

TEST(Derivations, TheRootKeepsTheVarianceOfScoresAtOne) {
  base::Random random(1);
  for (const int64_t width : {4, 50, 512}) {
    constexpr int kPairs = 1000;
    double squares = 0;
    for (int pair = 0; pair < kPairs; ++pair) {
      double score = 0;
      for (int64_t c = 0; c < width; ++c) {
        score += random.normal() * random.normal();
      }
      squares += score * score / kPairs;
    }
    EXPECT_NEAR(squares / static_cast<double>(width), 1.0, 0.2) << "width " << width;
  }
  // The kernel divides by this root: one key above another by 1 in each of 50 columns, a query of ones.
  const Tensor ones = Tensor::full({1, 50}, 1.0, DType::kFloat64);
  Tensor keys = Tensor::zeros({2, 50}, DType::kFloat64);
  keys.rows(0, 1).fill(1.0);
  const Tensor weights = attention_weights(ones, keys, bounds_of(1, 2), {});
  EXPECT_NEAR(weights.to_vector<float>()[0], 1.0 / (1.0 + std::exp(-50.0 / std::sqrt(50.0))), 1e-6);
}

TEST(Derivations, TheJacobianOfTheSoftmaxIsDiagonalMinusProduct) {
  const Tensor logits = random_tensor({1, 5});
  const std::vector<double> p = softmax(Variable(logits)).value().to_vector<double>();
  for (size_t i = 0; i < 5; ++i) {
    Tensor unit = Tensor::zeros({1, 5}, DType::kFloat64);
    unit.data<double>()[i] = 1.0;
    const Tensor row = gradients([](const auto& in) { return softmax(in[0]); }, {logits}, unit)[0];  // dp_i / dz
    for (size_t j = 0; j < 5; ++j) {
      EXPECT_NEAR(row.data<double>()[j], p[i] * ((i == j ? 1.0 : 0.0) - p[j]), 1e-15) << i << ", " << j;
    }
  }
}

TEST(Derivations, AttentionBackwardIsFourProducts) {
  const Tensor query = random_tensor({3, 4}), key = random_tensor({5, 4}, DType::kFloat64, 2);
  const Tensor value = random_tensor({5, 6}, DType::kFloat64, 3), grad = random_tensor({3, 6}, DType::kFloat64, 4);
  const double root = 1.0 / std::sqrt(4.0);
  const Tensor scores = scaled(product(query, key, Transpose::kNo, Transpose::kYes), root);
  const Tensor weights = softmax(Variable(scores)).value();  // [3, 5]
  const Tensor grad_weights = product(grad, value, Transpose::kNo, Transpose::kYes);
  const std::vector<double> means = row_products(weights, grad_weights);
  const std::vector<double> shortcut = row_products(grad, product(weights, value));
  Tensor grad_scores = Tensor::empty({3, 5}, DType::kFloat64);
  for (int64_t i = 0; i < 15; ++i) {
    EXPECT_NEAR(means[static_cast<size_t>(i / 5)], shortcut[static_cast<size_t>(i / 5)], 1e-14);
    grad_scores.data<double>()[i] =
        weights.data<double>()[i] * (grad_weights.data<double>()[i] - means[static_cast<size_t>(i / 5)]);
  }
  const auto attention_of = [](const std::vector<Variable>& in) {
    return attention(in[0], in[1], in[2], bounds_of(3, 5), {});
  };
  const std::vector<Tensor> seen = gradients(attention_of, {query, key, value}, grad);
  EXPECT_TRUE(close(seen[0], scaled(product(grad_scores, key), root), 1e-13));
  EXPECT_TRUE(close(seen[1], scaled(product(grad_scores, query, Transpose::kYes), root), 1e-13));
  EXPECT_TRUE(close(seen[2], product(weights, grad, Transpose::kYes), 1e-13));
}

constexpr int64_t kHeads = 6, kHeadWidth = 50;

TEST(Derivations, HeadsAreAttentionOfTheirColumnsSideBySide) {
  const Tensor query = random_tensor({12, 300}), key = random_tensor({10, 300}, DType::kFloat64, 2);
  const Tensor value = random_tensor({10, 300}, DType::kFloat64, 3);
  const Tensor joined = attend(query, key, value, {.n_heads = kHeads});
  for (int64_t begin = 0; begin < kHeads * kHeadWidth; begin += kHeadWidth) {
    const auto head = [&](const Tensor& x) { return x.columns(begin, begin + kHeadWidth); };
    EXPECT_TRUE(close(head(joined).clone(), attend(head(query), head(key), head(value)), 1e-14)) << "column " << begin;
  }
}

TEST(Derivations, AJoinedProductIsTheSumOverHeads) {
  const Tensor heads = random_tensor({12, 300}), output_weight = random_tensor({300, 300}, DType::kFloat64, 2);
  Variable sum(Tensor::zeros({12, 300}, DType::kFloat64));
  for (int64_t begin = 0; begin < kHeads * kHeadWidth; begin += kHeadWidth) {
    const int64_t end = begin + kHeadWidth;
    sum = add(sum, Variable(product(heads.columns(begin, end), output_weight.rows(begin, end))));
  }
  EXPECT_TRUE(close(product(heads, output_weight), sum.value(), 1e-13));
}

TEST(Derivations, AMaskIsTheSentenceWithoutItsPadding) {
  const Tensor query = random_tensor({3, 4}), key = random_tensor({5, 4}, DType::kFloat64, 2);
  const Tensor value = random_tensor({5, 4}, DType::kFloat64, 3);
  AttentionBounds masked = bounds_of(3, 5);
  masked.key_mask = Tensor::zeros({5}, DType::kBool);
  std::fill_n(masked.key_mask.data<bool>(), 3, true);
  const Tensor without = attend(query, key.rows(0, 3), value.rows(0, 3));
  EXPECT_TRUE(close(attention(Variable(query), Variable(key), Variable(value), masked, {}).value(), without, 1e-15));
  Tensor zeroed = key.clone();
  zeroed.rows(3, 5).zero();  // scores of 0 in place of a mask
  EXPECT_FALSE(close(attend(query, zeroed, value), without, 0.1));
}

TEST(Derivations, TheGradientOfANormIsOrthogonalToOnesAndToTheRow) {
  const Tensor x = random_tensor({4, 9}), ones = Tensor::full({9}, 1.0, DType::kFloat64);
  const Tensor zeros = Tensor::zeros({9}, DType::kFloat64), grad = random_tensor({4, 9}, DType::kFloat64, 2);
  const auto norm = [](const std::vector<Variable>& in) { return layer_norm(in[0], in[1], in[2], 0.0F); };
  const Tensor normal = norm({Variable(x), Variable(ones), Variable(zeros)}).value();
  const Tensor grad_x = gradients(norm, {x, ones, zeros}, grad)[0];
  const std::vector<double> along_ones = row_products(grad_x, Tensor::full({4, 9}, 1.0, DType::kFloat64));
  const std::vector<double> along_row = row_products(grad_x, normal);
  for (size_t row = 0; row < 4; ++row) {
    EXPECT_NEAR(along_ones[row], 0.0, 1e-13) << "row " << row;
    EXPECT_NEAR(along_row[row], 0.0, 1e-13) << "row " << row;
  }
}

// Of each column: (x - mean) / sqrt(variance + epsilon), over the rows.
Tensor batch_norm(const Tensor& x, double epsilon) {
  Tensor y = x.clone();
  for (int64_t column = 0; column < x.dim(1); ++column) {
    double mean = 0, variance = 0;
    for (int64_t row = 0; row < x.dim(0); ++row) {
      mean += x.data<double>()[row * x.dim(1) + column] / static_cast<double>(x.dim(0));
    }
    for (int64_t row = 0; row < x.dim(0); ++row) {
      variance += std::pow(x.data<double>()[row * x.dim(1) + column] - mean, 2) / static_cast<double>(x.dim(0));
    }
    for (int64_t row = 0; row < x.dim(0); ++row) {
      double& element = y.data<double>()[row * x.dim(1) + column];
      element = (element - mean) / std::sqrt(variance + epsilon);
    }
  }
  return y;
}

TEST(Derivations, BatchNormIsLayerNormOfTheTranspose) {
  constexpr float kEpsilon = 1e-5F;
  const Tensor x = random_tensor({7, 5}), gain = Tensor::full({7}, 1.0, DType::kFloat64);
  const Variable normal =
      layer_norm(Variable(transposed(x)), Variable(gain), Variable(Tensor::zeros({7}, DType::kFloat64)), kEpsilon);
  EXPECT_TRUE(close(transposed(normal.value()), batch_norm(x, static_cast<double>(kEpsilon)), 1e-13));
}

TEST(Derivations, TheSmoothedLossIsLeastAtTheSmoothedTarget) {
  constexpr int64_t kPieces = 2000;
  constexpr double kShare = static_cast<double>(0.1F);
  Tensor logits = Tensor::full({1, kPieces}, std::log(kShare / kPieces), DType::kFloat64);
  logits.data<double>()[3] = std::log(1.0 - kShare + kShare / kPieces);
  const Tensor target = ids_of({3});
  const auto loss = [&](const std::vector<Variable>& in) { return cross_entropy(in[0], target, {0.1F, 1.0}); };
  const double right = 1.0 - kShare + kShare / kPieces, other = kShare / kPieces;
  const double entropy = -right * std::log(right) - (kPieces - 1) * other * std::log(other);
  EXPECT_NEAR(loss({Variable(logits)}).value().item(), entropy, 1e-9);
  EXPECT_NEAR(entropy, 1.085, 5e-4) << "the figure of the page";
  const Tensor grad = gradients(loss, {logits}, Tensor::full({}, 1.0, DType::kFloat64))[0];
  for (const double element : grad.to_vector<double>()) {
    EXPECT_NEAR(element, 0.0, 1e-9);
  }
}

}  // namespace
}  // namespace dragoman::ops
