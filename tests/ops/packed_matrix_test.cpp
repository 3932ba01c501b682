#include "ops/packed_matrix.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "support/tensors.h"

namespace dragoman::ops {
namespace {

using support::close;
using support::random_tensor;
using support::same_bits;
using support::strided_copy;
using tensor::DType;

Tensor multiply(const PackedMatrix& matrix, const Tensor& x, const PackedEpilogue& epilogue = {}) {
  Tensor y = Tensor::full({x.dim(0), matrix.columns()}, 9.0);
  matrix.multiply(x, epilogue, y);
  return y;
}

Tensor random_float32(const tensor::Shape& shape, uint64_t seed) {
  return random_tensor(shape, DType::kFloat32, seed);
}

TEST(PackedMatrix, ProductHasTheBitsOfGemmForOddSizes) {
  for (const auto& [k, n] :
       {std::pair<int64_t, int64_t>{1, 1}, {7, 31}, {33, 48}, {64, 49}, {300, 7}, {513, 97}, {1100, 130}}) {
    const Tensor x = random_float32({19, k}, 1), weight = random_float32({k, n}, 2), bias = random_float32({n}, 3);
    Tensor expected = Tensor::empty({19, n});
    gemm_bias(x, Transpose::kNo, weight, Transpose::kNo, bias, expected);
    EXPECT_TRUE(same_bits(multiply(PackedMatrix(strided_copy(weight)), strided_copy(x), {bias}), expected))
        << k << " x " << n;
    Tensor turned = Tensor::empty({n, k});
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < k; ++j) {
        turned.data<float>()[i * k + j] = weight.data<float>()[j * n + i];
      }
    }
    EXPECT_TRUE(same_bits(multiply(PackedMatrix(turned, Transpose::kYes), x, {bias}), expected)) << k << " x " << n;
  }
}

TEST(PackedMatrix, ABitOfARowDoesNotDependOnTheOtherRows) {
  const PackedMatrix matrix(random_float32({600, 100}, 5));
  const Tensor x = random_float32({300, 600}, 4);
  const Tensor all = multiply(matrix, x);
  for (int64_t m = 1; m <= 70; ++m) {
    ASSERT_TRUE(same_bits(multiply(matrix, x.rows(0, m)), all.rows(0, m))) << "first " << m << " rows";
    ASSERT_TRUE(same_bits(multiply(matrix, x.rows(300 - m, 300)), all.rows(300 - m, 300))) << "last " << m << " rows";
  }
}

TEST(PackedMatrix, EpilogueIsBiasThenActivation) {
  const Tensor x = random_float32({11, 40}, 1), weight = random_float32({40, 70}, 2), bias = random_float32({70}, 3);
  const PackedMatrix matrix(weight);
  for (const Activation kind : {Activation::kNone, Activation::kRelu, Activation::kGelu, Activation::kSilu}) {
    const Tensor expected = activation(Variable(multiply(matrix, x, {bias})), kind).value();
    EXPECT_TRUE(same_bits(multiply(matrix, x, {bias, kind}), expected)) << "activation " << static_cast<int>(kind);
  }
  EXPECT_TRUE(same_bits(multiply(matrix, x), multiply(matrix, x, {Tensor::zeros({70})})));
}

TEST(PackedMatrix, ConcatenatedWeightsGiveTheirResultsSideBySide) {
  const Tensor x = random_float32({9, 65}, 1);
  const std::vector<Tensor> weights = {random_float32({65, 50}, 2), random_float32({65, 33}, 3),
                                       random_float32({65, 64}, 4)};
  const PackedMatrix joined = PackedMatrix::concatenate(weights);
  ASSERT_EQ(joined.columns(), 147);
  const Tensor y = multiply(joined, x);
  int64_t begin = 0;
  for (const Tensor& weight : weights) {
    EXPECT_TRUE(same_bits(y.columns(begin, begin + weight.dim(1)), multiply(PackedMatrix(weight), x)));
    begin += weight.dim(1);
  }
}

TEST(PackedMatrix, NothingIsWrittenOutsideAView) {
  Tensor wide = Tensor::full({5, 100}, 7.0), view = wide.columns(10, 63);
  PackedMatrix(random_float32({8, 53}, 1)).multiply(random_float32({5, 8}, 2), {}, view);
  for (int64_t row = 0; row < 5; ++row) {
    for (int64_t column = 0; column < 100; ++column) {
      const bool inside = column >= 10 && column < 63;
      ASSERT_EQ(wide.data<float>()[row * 100 + column] == 7.0F, !inside) << row << ", " << column;
    }
  }
}

TEST(PackedMatrix, EmptySidesAreAllowed) {
  const Tensor bias = random_float32({50}, 1);
  EXPECT_TRUE(
      same_bits(multiply(PackedMatrix(Tensor::empty({0, 50})), Tensor::empty({1, 0}), {bias}), bias.reshape({1, 50})));
  EXPECT_EQ(multiply(PackedMatrix(random_float32({4, 50}, 1)), Tensor::empty({0, 4})).size(), 0);
}

TEST(PackedMatrix, ErrorsNameTheArgument) {
  const PackedMatrix matrix(Tensor::zeros({4, 6}));
  EXPECT_THAT(
      [&] {
        multiply(matrix, Tensor::zeros({3, 5}));
      },
      testing::ThrowsMessage<base::Error>("packed_matrix: x is [3, 5], must have 4 columns"));
  EXPECT_THAT(
      [&] {
        multiply(matrix, Tensor::zeros({3, 4}), {Tensor::zeros({5})});
      },
      testing::ThrowsMessage<base::Error>("packed_matrix: bias is [5], must be [6]"));
  EXPECT_THAT(
      [] {
        PackedMatrix(Tensor::zeros({4, 6}, DType::kFloat64));
      },
      testing::ThrowsMessage<base::Error>("packed_matrix: weight is float64, must be float32"));
  const std::vector<Tensor> unlike = {Tensor::zeros({64, 2}), Tensor::zeros({32, 2})};
  EXPECT_THAT([&] { PackedMatrix::concatenate(unlike); },
              testing::ThrowsMessage<base::Error>("packed_matrix: weight 1 has 32 rows, weight 0 has 64"));
  EXPECT_THROW(PackedMatrix::concatenate({}), base::Error);
}

}  // namespace
}  // namespace dragoman::ops
