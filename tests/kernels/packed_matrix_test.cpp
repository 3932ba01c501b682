#include "kernels/cpu/gemm/packed_matrix.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>

#include "base/error.h"
#include "ops/activation.h"
#include "ops/gemm.h"
#include "support/tensors.h"

namespace dragoman::kernels {
namespace {

using tensor::DType;
using test_support::close;
using test_support::random_tensor;
using test_support::same_bits;
using test_support::strided_copy;

Tensor multiply(const PackedMatrix& matrix, const Tensor& x, const PackedEpilogue& epilogue = {}) {
  Tensor y = Tensor::full({x.dim(0), matrix.columns()}, 9.0);
  matrix.multiply(x, epilogue, y);
  return y;
}

Tensor random_float32(const tensor::Shape& shape, uint64_t seed) {
  return random_tensor(shape, DType::kFloat32, seed);
}

constexpr Precision kPrecisions[] = {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8};

Tensor transposed(const Tensor& matrix) {
  Tensor result = Tensor::empty({matrix.dim(1), matrix.dim(0)});
  for (int64_t i = 0; i < matrix.dim(0); ++i) {
    for (int64_t j = 0; j < matrix.dim(1); ++j) {
      result.data<float>()[j * matrix.dim(0) + i] = matrix.data<float>()[i * matrix.stride(0) + j];
    }
  }
  return result;
}

TEST(PackedMatrix, ProductHasTheBitsOfGemmForOddSizes) {
  for (const auto& [k, n] :
       {std::pair<int64_t, int64_t>{1, 1}, {7, 31}, {33, 48}, {64, 49}, {300, 7}, {513, 97}, {1100, 130}, {2063, 20}}) {
    const Tensor x = random_float32({19, k}, 1), weight = random_float32({k, n}, 2), bias = random_float32({n}, 3);
    const Tensor weight_transposed = transposed(weight);
    for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
      Tensor expected = Tensor::empty({19, n});
      ops::gemm_bias(x, Transpose::kNo, weight, Transpose::kNo, bias, expected, precision);
      const PackedMatrix straight(strided_copy(weight), Transpose::kNo, precision);
      EXPECT_TRUE(same_bits(multiply(straight, strided_copy(x), {bias}), expected)) << k << " x " << n;
      const PackedMatrix from_transposed(weight_transposed, Transpose::kYes, precision);
      EXPECT_TRUE(same_bits(multiply(from_transposed, x, {bias}), expected)) << k << " x " << n;
      Tensor sum = expected.clone(), expected_sum = expected.clone();
      ops::gemm_accumulate(x, Transpose::kNo, weight, Transpose::kNo, expected_sum, precision);
      straight.multiply_accumulate(x, sum);
      EXPECT_TRUE(same_bits(sum, expected_sum)) << k << " x " << n << " accumulated";
    }
  }
}

// Elements quantized to int8, and their scale.
struct Rounded {
  std::vector<int32_t> values;
  float scale;
};

Rounded rounded(const float* values, int64_t count, int64_t stride) {
  Rounded result{{}, 0.0F};
  for (int64_t i = 0; i < count; ++i) {
    result.scale = std::max(result.scale, std::abs(values[i * stride]) / 127.0F);
  }
  for (int64_t i = 0; i < count; ++i) {
    const float inverse_scale = result.scale > 0.0F ? 1.0F / result.scale : 0.0F;
    result.values.push_back(static_cast<int32_t>(std::nearbyint(values[i * stride] * inverse_scale)));
  }
  return result;
}

TEST(PackedMatrix, Int8IsExactInUnitsOfRowsAndColumns) {
  for (const auto& [k, n] :
       {std::pair<int64_t, int64_t>{1, 1}, {7, 31}, {33, 48}, {64, 49}, {300, 7}, {513, 97}, {2048, 20}}) {
    Tensor x = random_float32({37, k}, 1);
    const Tensor weight = random_float32({k, n}, 2), bias = random_float32({n}, 3);
    for (int64_t i = 0; i < k; ++i) {
      x.data<float>()[5 * k + i] = 0.0F;  // a row of zeros
    }
    Tensor expected = Tensor::empty({37, n});
    for (int64_t r = 0; r < 37; ++r) {
      const Rounded row = rounded(x.data<float>() + r * k, k, 1);
      for (int64_t j = 0; j < n; ++j) {
        const Rounded column = rounded(weight.data<float>() + j, k, n);
        int32_t sum = 0;
        for (size_t i = 0; i < row.values.size(); ++i) {
          sum += row.values[i] * column.values[i];
        }
        expected.data<float>()[r * n + j] =
            std::fma(static_cast<float>(sum), row.scale * column.scale, bias.data<float>()[j]);
      }
    }
    const PackedMatrix straight(strided_copy(weight), Transpose::kNo, Precision::kInt8);
    EXPECT_TRUE(same_bits(multiply(straight, strided_copy(x), {bias}), expected)) << k << " x " << n;
    const PackedMatrix weight_transposed(transposed(weight), Transpose::kYes, Precision::kInt8);
    EXPECT_TRUE(same_bits(multiply(weight_transposed, x, {bias}), expected)) << k << " x " << n << " stored transposed";
  }
}

TEST(PackedMatrix, Int8IsNearTheProduct) {
  const Tensor x = random_float32({50, 2500}, 1),
               weight = random_float32({2500, 70}, 2);  // more than a block of depth in float32
  const Tensor exact = multiply(PackedMatrix(weight), x);
  const Tensor near = multiply(PackedMatrix(weight, Transpose::kNo, Precision::kInt8), x);
  double error = 0.0, size = 0.0;
  for (int64_t i = 0; i < exact.size(); ++i) {
    error += std::pow(exact.data<float>()[i] - near.data<float>()[i], 2);
    size += std::pow(exact.data<float>()[i], 2);
  }
  EXPECT_LT(std::sqrt(error / size), 0.02) << "of the size of the product";
}

// Rounding first and packing then gives the matrix that is packed from float32; the packed columns can be read back.
TEST(PackedMatrix, QuantisedWeightsGiveTheSameMatrix) {
  for (const auto& [k, n] : {std::pair<int64_t, int64_t>{1, 1}, {4, 16}, {33, 48}, {70, 100}, {513, 97}}) {
    Tensor weight = random_float32({k, n}, 2);
    weight.columns(0, 1).fill(0.0);
    const Tensor x = random_float32({5, k}, 1), weight_transposed = transposed(weight);
    const Tensor expected = multiply(PackedMatrix(weight, Transpose::kNo, Precision::kInt8), x);
    for (const Transpose stored : {Transpose::kNo, Transpose::kYes}) {
      const Tensor& source = stored == Transpose::kYes ? weight_transposed : weight;
      const QuantisedWeight quantised = quantise(source, stored);
      PackedMatrix matrix(k, n, Precision::kInt8);
      matrix.pack(quantised, stored, 0, matrix.panels());
      EXPECT_TRUE(same_bits(multiply(matrix, x), expected)) << k << " x " << n;
      const Tensor back = dequantise(quantised, stored);
      EXPECT_TRUE(close(back, source, 0.5 / 127)) << k << " x " << n;
      std::vector<float> column(static_cast<size_t>(k));
      for (const int64_t j : {int64_t{0}, n / 2, n - 1}) {
        matrix.unpack_column(j, column.data());
        for (int64_t i = 0; i < k; ++i) {
          const int64_t place = stored == Transpose::kYes ? j * k + i : i * n + j;
          EXPECT_EQ(column[static_cast<size_t>(i)], back.data<float>()[place]) << i << ", " << j;
        }
      }
    }
  }
}

TEST(PackedMatrix, ColumnsAreReadBackAsTheyWereRounded) {
  const Tensor weight = random_float32({37, 101}, 2);
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    const PackedMatrix matrix(weight, Transpose::kNo, precision);
    const Tensor rounded = precision == Precision::kFloat32 ? weight : weight.to(DType::kBFloat16).to(DType::kFloat32);
    std::vector<float> column(37);
    for (const int64_t j : {0, 47, 48, 100}) {
      matrix.unpack_column(j, column.data());
      for (int64_t i = 0; i < 37; ++i) {
        EXPECT_EQ(column[static_cast<size_t>(i)], rounded.data<float>()[i * 101 + j]) << i << ", " << j;
      }
    }
  }
}

TEST(PackedMatrix, AColumnAloneHasItsBits) {
  for (const int64_t depth : {1, 37, 512, 513, 1100}) {
    const Tensor x = random_float32({3, depth}, 1), weight = random_float32({depth, 101}, 2);
    const PackedMatrix matrix(weight);
    for (const Tensor& bias : {Tensor(), random_float32({101}, 3)}) {
      const Tensor y = multiply(matrix, x, {bias, Activation::kNone});
      for (int64_t i = 0; i < y.size(); ++i) {
        const int64_t row = i / 101, column = i % 101;
        const float expected = y.data<float>()[i];
        const float seen = matrix.multiply_column(x.data<float>() + row * depth, bias, column);
        ASSERT_EQ(std::bit_cast<uint32_t>(seen), std::bit_cast<uint32_t>(expected))
            << seen << ", expected " << expected << " at " << row << ", " << column << ", depth " << depth;
      }
    }
  }
}

TEST(PackedMatrix, RoundedIsTheWeightPackedInInt8) {
  for (const int64_t columns : {1, 47, 100, 333}) {
    const Tensor x = random_float32({5, 70}, 1), weight = random_float32({70, columns}, 2);
    const PackedMatrix rounded = PackedMatrix::rounded(PackedMatrix(weight));
    EXPECT_TRUE(same_bits(multiply(rounded, x), multiply(PackedMatrix(weight, Transpose::kNo, Precision::kInt8), x)))
        << columns << " columns";
  }
}

TEST(PackedMatrix, PanelsMayBePackedApartAndAgain) {
  const Tensor x = random_float32({5, 70}, 1), weight = random_float32({70, 333}, 2);
  for (const Precision precision : kPrecisions) {
    PackedMatrix matrix(70, 333, precision);
    for (const Tensor& now : {random_float32({70, 333}, 3), weight}) {
      for (int64_t panel = matrix.panels(); panel-- > 0;) {
        matrix.pack(now, Transpose::kNo, panel, panel + 1);
      }
    }
    EXPECT_TRUE(same_bits(multiply(matrix, x), multiply(PackedMatrix(weight, Transpose::kNo, precision), x)));
  }
}

TEST(PackedMatrix, ABitOfARowDoesNotDependOnTheOtherRows) {
  for (const Precision precision : kPrecisions) {
    const PackedMatrix matrix(random_float32({600, 100}, 5), Transpose::kNo, precision);
    const Tensor x = random_float32({300, 600}, 4);
    const Tensor all = multiply(matrix, x);
    for (int64_t m = 1; m <= 70; ++m) {
      ASSERT_TRUE(same_bits(multiply(matrix, x.rows(0, m)), all.rows(0, m))) << "first " << m << " rows";
      ASSERT_TRUE(same_bits(multiply(matrix, x.rows(300 - m, 300)), all.rows(300 - m, 300))) << "last " << m << " rows";
    }
  }
}

// However many rows make a block, and whatever is left for the last ones.
TEST(PackedMatrix, BlocksOfRowsKeepTheBits) {
  const Tensor x = random_float32({840, 70}, 4);
  for (const Precision precision : kPrecisions) {
    const PackedMatrix matrix(random_float32({70, 50}, 5), Transpose::kNo, precision);
    const Tensor all = multiply(matrix, x);
    EXPECT_TRUE(same_bits(multiply(matrix, x.rows(839, 840)), all.rows(839, 840))) << "the last row alone";
    for (const int64_t m : {127, 129, 156, 161, 200, 255, 257, 272, 320, 321, 500, 512, 577, 832, 839}) {
      EXPECT_TRUE(same_bits(multiply(matrix, x.rows(0, m)), all.rows(0, m))) << m << " rows, " << name_of(precision);
      Tensor parts = Tensor::empty({m, 50});
      matrix.multiply_in_parts(x.rows(0, m), {}, [&](int64_t row, int64_t column, const Tensor& part) {
        parts.rows(row, row + part.dim(0)).columns(column, column + part.dim(1)).copy_from(part);
      });
      EXPECT_TRUE(same_bits(parts, all.rows(0, m))) << m << " rows in parts, " << name_of(precision);
    }
  }
}

TEST(PackedMatrix, PartsOfTheDepthAddUpToTheProduct) {
  constexpr int64_t kPart = kPartColumns;
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    for (const int64_t depth : {kPart, 2 * kPart, 1000L, 1303L}) {
      const Tensor x = random_float32({37, depth}, 1);
      const PackedMatrix matrix(random_float32({depth, 70}, 2), Transpose::kNo, precision);
      Tensor sum = Tensor::full({37, 70}, 9.0), row = Tensor::full({1, 70}, 9.0);
      for (int64_t first = 0; first < depth; first += kPart) {
        const Tensor part = x.columns(first, std::min(first + kPart, depth));
        matrix.multiply_rows(part, first, first > 0, sum);
        matrix.multiply_rows(part.rows(36, 37), first, first > 0, row);
      }
      EXPECT_TRUE(close(sum, multiply(matrix, x), 2e-6)) << "depth " << depth << ", " << name_of(precision);
      EXPECT_TRUE(same_bits(row, sum.rows(36, 37))) << "a row alone, depth " << depth << ", " << name_of(precision);
    }
  }
}

TEST(PackedMatrix, EpilogueIsBiasThenActivation) {
  const Tensor x = random_float32({11, 40}, 1), weight = random_float32({40, 70}, 2), bias = random_float32({70}, 3);
  const PackedMatrix matrix(weight);
  for (const Activation kind : {Activation::kNone, Activation::kRelu, Activation::kGelu, Activation::kSilu,
                                Activation::kGeluTanh, Activation::kReluSquared}) {
    const Tensor expected = ops::activation(autograd::Variable(multiply(matrix, x, {bias})), kind).value();
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
  Tensor y = Tensor::zeros({3, 6});
  EXPECT_THAT(
      [&] {
        matrix.multiply_rows(Tensor::zeros({3, 2}), 3, false, y);
      },
      testing::ThrowsMessage<base::Error>(
          "packed_matrix: rows 3 to 5 requested, there are 4; the first must be a multiple of 480"));
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
  EXPECT_THAT([&] { static_cast<void>(PackedMatrix::concatenate(unlike)); },
              testing::ThrowsMessage<base::Error>("packed_matrix: weight 1 has 32 rows, weight 0 has 64"));
  EXPECT_THROW(static_cast<void>(PackedMatrix::concatenate({})), base::Error);
  EXPECT_THAT(
      [] {
        PackedMatrix(4, 6, Precision::kFloat32).pack(Tensor::zeros({6, 4}), Transpose::kNo, 0, 1);
      },
      testing::ThrowsMessage<base::Error>("packed_matrix: weight is [6, 4], must be [4, 6]"));
  EXPECT_THAT(
      [] {
        PackedMatrix(4, 6, Precision::kFloat32).pack(Tensor::zeros({4, 6}), Transpose::kNo, 0, 2);
      },
      testing::ThrowsMessage<base::Error>("packed_matrix: panels 0 to 2 requested, there are 1"));
}

}  // namespace
}  // namespace dragoman::kernels
