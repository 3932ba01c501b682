#include "ops/gemm.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "support/error_of.h"
#include "support/tensors.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using tensor::Shape;
using test_support::close;
using test_support::random_tensor;
using test_support::rounded;
using test_support::same_bits;
using test_support::strided_copy;

struct Sizes {
  int64_t m, n, k;
};

constexpr Precision kPrecisions[] = {Precision::kFloat32, Precision::kBFloat16};

// What a product of this precision multiplies, as float64.
Tensor operand(const Tensor& x, Precision precision) {
  return precision == Precision::kFloat32 ? x.to(DType::kFloat64) : x.to(DType::kBFloat16).to(DType::kFloat64);
}

Shape shape_of(Transpose transpose, int64_t rows, int64_t columns) {
  return transpose == Transpose::kNo ? Shape{rows, columns} : Shape{columns, rows};
}

class GemmSizes : public testing::TestWithParam<Sizes> {};

TEST_P(GemmSizes, KernelAgreesWithDoubleLoopsForEveryTranspose) {
  const auto [m, n, k] = GetParam();
  for (const Transpose ta : {Transpose::kNo, Transpose::kYes}) {
    for (const Transpose tb : {Transpose::kNo, Transpose::kYes}) {
      const Tensor a = strided_copy(random_tensor(shape_of(ta, m, k), DType::kFloat32, 1));
      const Tensor b = strided_copy(random_tensor(shape_of(tb, k, n), DType::kFloat32, 2));
      for (const Precision precision : kPrecisions) {
        const Tensor wide_a = operand(a, precision), wide_b = operand(b, precision);
        Tensor c = strided_copy(random_tensor({m, n}, DType::kFloat32, 3));
        Tensor expected = Tensor::zeros({m, n}, DType::kFloat64);
        gemm(wide_a, ta, wide_b, tb, expected);
        gemm(a, ta, b, tb, c, precision);
        EXPECT_TRUE(close(c, expected, 2e-6))
            << m << " x " << n << " x " << k << ", transposes " << static_cast<int>(ta) << static_cast<int>(tb)
            << ", precision " << static_cast<int>(precision);
        gemm_accumulate(wide_a, ta, wide_b, tb, expected);
        gemm_accumulate(a, ta, b, tb, c, precision);
        EXPECT_TRUE(close(c, expected, 2e-6)) << "accumulated, precision " << static_cast<int>(precision);
      }
    }
  }
}

// An operand with the number formats in which it may come, and where its rows may lie: tiles read rows of bfloat16
// where they are when these begin an even number of elements apart.
std::vector<Tensor> ways_to_lie(const Tensor& operand) {
  const Tensor narrow = operand.to(DType::kBFloat16);
  const int64_t to_even = operand.dim(1) % 2;
  return {operand, narrow, strided_copy(narrow, 4 + to_even), strided_copy(narrow, 6 + to_even, 1),
          strided_copy(narrow, 5 + to_even)};
}

TEST_P(GemmSizes, BFloat16OperandsGiveTheBitsOfTheSameNumbersInFloat32) {
  const auto [m, n, k] = GetParam();
  const Tensor bias = random_tensor({n}, DType::kFloat32, 4), old = random_tensor({m, n}, DType::kFloat32, 3);
  for (const Transpose ta : {Transpose::kNo, Transpose::kYes}) {
    for (const Transpose tb : {Transpose::kNo, Transpose::kYes}) {
      const Tensor a = rounded(random_tensor(shape_of(ta, m, k), DType::kFloat32, 1));
      const Tensor b = rounded(random_tensor(shape_of(tb, k, n), DType::kFloat32, 2));
      Tensor product = Tensor::empty({m, n}), biased = Tensor::empty({m, n}), sum = old.clone();
      gemm(a, ta, b, tb, product, Precision::kBFloat16);
      gemm_bias(a, ta, b, tb, bias, biased, Precision::kBFloat16);
      gemm_accumulate(a, ta, b, tb, sum, Precision::kBFloat16);
      const std::vector<Tensor> as = ways_to_lie(a), bs = ways_to_lie(b);
      for (size_t i = 1; i < as.size() + bs.size(); ++i) {  // each with both of the other's number formats
        const size_t of_a = i < as.size() ? i : i % 2, of_b = i < as.size() ? i % 2 : i - as.size();
        const auto label = [&, ta = ta, tb = tb] {
          return testing::Message() << "way " << of_a << " of a, " << of_b << " of b, transposes "
                                    << static_cast<int>(ta) << static_cast<int>(tb);
        };
        Tensor c = strided_copy(old);
        gemm_accumulate(as[of_a], ta, bs[of_b], tb, c, Precision::kBFloat16);
        EXPECT_TRUE(same_bits(c, sum)) << "accumulated, " << label();
        gemm(as[of_a], ta, bs[of_b], tb, c, Precision::kBFloat16);
        EXPECT_TRUE(same_bits(c, product)) << label();
        gemm_bias(as[of_a], ta, bs[of_b], tb, bias, c, Precision::kBFloat16);
        EXPECT_TRUE(same_bits(c, biased)) << "with bias, " << label();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(WholeTiles, GemmSizes,
                         testing::Values(Sizes{16, 48, 32}, Sizes{32, 20, 64}, Sizes{48, 50, 1024}, Sizes{272, 50, 288},
                                         Sizes{40, 17, 64}, Sizes{32, 33, 1056}, Sizes{16, 20, 2112}));
INSTANTIATE_TEST_SUITE_P(OddSizes, GemmSizes,
                         testing::Values(Sizes{1, 1, 1}, Sizes{1, 7, 31}, Sizes{7, 31, 33}, Sizes{8, 48, 64},
                                         Sizes{9, 49, 65}, Sizes{31, 16, 1}, Sizes{33, 300, 7}, Sizes{130, 97, 513},
                                         Sizes{64, 2100, 20}, Sizes{3, 64, 1100}, Sizes{330, 33, 64}, Sizes{601, 33, 7},
                                         Sizes{40, 70, 2063}, Sizes{340, 40, 530}, Sizes{20, 2120, 520}));

// The last m rows of a product alone have the bits that they have among all rows, for each m.
void expect_rows_are_independent(const Tensor& a, const Tensor& b, Precision precision) {
  const int64_t rows = a.dim(0), columns = b.dim(1);
  Tensor all = Tensor::empty({rows, columns});
  gemm(a, Transpose::kNo, b, Transpose::kNo, all, precision);
  for (int64_t m = 1; m <= rows; ++m) {
    Tensor some = Tensor::empty({m, columns});
    gemm(a.rows(rows - m, rows), Transpose::kNo, b, Transpose::kNo, some, precision);
    ASSERT_TRUE(same_bits(some, all.rows(rows - m, rows))) << "m = " << m << ", " << kernels::name_of(precision);
  }
}

TEST(Gemm, ABitOfARowDoesNotDependOnTheOtherRows) {
  const Tensor a = random_tensor({70, 600}, DType::kFloat32, 4), b = random_tensor({600, 100}, DType::kFloat32, 5);
  for (const Precision precision : kPrecisions) {
    expect_rows_are_independent(a, b, precision);
  }
}

// Of 608 columns rows are read where they lie if there are whole tiles of them, else packed.
TEST(Gemm, ABitOfARowOfBFloat16DoesNotDependOnTheOtherRows) {
  expect_rows_are_independent(random_tensor({80, 608}, DType::kBFloat16, 4),
                              random_tensor({608, 100}, DType::kFloat32, 5), Precision::kBFloat16);
}

// A square of ones times one with NaN in row 5, column 7: the NaN reaches its row of the result and no other.
void expect_nan_in_its_row(const Tensor& a, Precision precision, uint32_t bits) {
  const int64_t size = a.dim(0);
  for (const Transpose transpose : {Transpose::kNo, Transpose::kYes}) {
    Tensor c = Tensor::empty({size, size});
    gemm(a, transpose, Tensor::full({size, size}, 1.0, a.dtype()), Transpose::kNo, c, precision);
    const int64_t row = transpose == Transpose::kNo ? 5 : 7;
    EXPECT_TRUE(std::isnan(c.data<float>()[row * size]))
        << std::hex << bits << " came out as " << c.data<float>()[row * size] << ", " << kernels::name_of(precision);
    EXPECT_EQ(c.data<float>()[(row + 1) * size], static_cast<float>(size));
  }
}

TEST(Gemm, HidesNoNotANumberInBFloat16) {
  for (const uint16_t bits : {0x7FC0, 0x7FFF, 0x7F81, 0xFFFF}) {
    for (const int64_t size : {40, 64}) {
      Tensor a = Tensor::full({size, size}, 1.0, DType::kBFloat16);
      a.data<tensor::BFloat16>()[5 * size + 7].bits = bits;
      expect_nan_in_its_row(a, Precision::kBFloat16, bits);
    }
  }
}

TEST(Gemm, HidesNoNotANumber) {
  for (const uint32_t bits : {0x7FC00000U, 0x7FFFFFFFU, 0x7F800001U, 0xFFFFFFFFU}) {
    for (const Precision precision : kPrecisions) {
      Tensor a = Tensor::full({40, 40}, 1.0);
      a.data<float>()[5 * 40 + 7] = std::bit_cast<float>(bits);
      expect_nan_in_its_row(a, precision, bits);
    }
  }
}

TEST(Gemm, WhatOverflowsIsNotFinite) {
  Tensor a = Tensor::full({3, 40}, 1.0), c = Tensor::empty({3, 20});
  a.data<float>()[40] = std::numeric_limits<float>::infinity();
  gemm(a, Transpose::kNo, Tensor::full({40, 20}, 1.0), Transpose::kNo, c);
  EXPECT_EQ(c.data<float>()[0], 40.0F);
  EXPECT_FALSE(std::isfinite(c.data<float>()[20])) << "an infinite operand came out as " << c.data<float>()[20];
}

// float32 is float32 however it is computed: what is lost is rounding, of which a part of the K = 300 steps cancels.
TEST(Gemm, Float32KeepsAllBitsOfOperandsOfAnyMagnitude) {
  constexpr int64_t kDepth = 300;
  Tensor a = random_tensor({20, kDepth}, DType::kFloat32, 9), b = random_tensor({kDepth, 50}, DType::kFloat32, 10);
  for (int64_t i = 0; i < a.size(); ++i) {
    a.data<float>()[i] *= std::ldexp(1.0F, static_cast<int>(i % 41 - 20));
  }
  for (int64_t i = 0; i < b.size(); ++i) {
    b.data<float>()[i] *= std::ldexp(1.0F, static_cast<int>(i % 37 - 18));
  }
  Tensor c = Tensor::empty({20, 50});
  gemm(a, Transpose::kNo, b, Transpose::kNo, c);
  for (int64_t row = 0; row < 20; ++row) {
    for (int64_t column = 0; column < 50; ++column) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < kDepth; ++k) {
        const double term = static_cast<double>(a.data<float>()[row * kDepth + k]) * b.data<float>()[k * 50 + column];
        sum += term;
        magnitude += std::abs(term);
      }
      const double error = std::abs(c.data<float>()[row * 50 + column] - sum);
      ASSERT_LE(error, std::ldexp(16 * magnitude, -24)) << "row " << row << ", column " << column;
    }
  }
}

TEST(Gemm, BiasIsAddedOnceToEachRow) {
  for (const int64_t depth : {0, 9, 700}) {
    const Tensor a = random_tensor({11, depth}, DType::kFloat32, 6), b = random_tensor({depth, 53}, DType::kFloat32, 7);
    const Tensor bias = random_tensor({53}, DType::kFloat32, 8);
    Tensor c = Tensor::full({11, 53}, 9.0), expected = Tensor::empty({11, 53}, DType::kFloat64);
    gemm_bias(a, Transpose::kNo, b, Transpose::kNo, bias, c);
    gemm_bias(a.to(DType::kFloat64), Transpose::kNo, b.to(DType::kFloat64), Transpose::kNo, bias.to(DType::kFloat64),
              expected);
    EXPECT_TRUE(close(c, expected, 2e-6)) << "depth " << depth;
  }
}

TEST(Gemm, EmptyDepthGivesZerosAndEmptyOutputsNothing) {
  Tensor c = Tensor::full({3, 4}, 5.0);
  gemm(Tensor::empty({3, 0}), Transpose::kNo, Tensor::empty({0, 4}), Transpose::kNo, c);
  EXPECT_TRUE(same_bits(c, Tensor::zeros({3, 4})));
  Tensor nothing = Tensor::empty({0, 4});
  EXPECT_NO_THROW(gemm(Tensor::empty({0, 2}), Transpose::kNo, Tensor::empty({2, 4}), Transpose::kNo, nothing));
}

TEST(Gemm, ErrorsNameTheArgument) {
  Tensor c = Tensor::empty({2, 4});
  const auto multiply = [&](const Tensor& a, const Tensor& b) { gemm(a, Transpose::kNo, b, Transpose::kNo, c); };
  EXPECT_THAT(
      [&] {
        multiply(Tensor::empty({2, 5}), Tensor::empty({3, 4}));
      },
      testing::ThrowsMessage<base::Error>("gemm: b is [3, 4], must be [5, 4]"));
  EXPECT_THAT(
      [&] {
        multiply(Tensor::empty({3, 5}), Tensor::empty({5, 4}));
      },
      testing::ThrowsMessage<base::Error>("gemm: c is [2, 4], must be [3, 4]"));
  EXPECT_THAT(
      [&] {
        multiply(Tensor::empty({2, 5}, DType::kFloat64), Tensor::empty({5, 4}));
      },
      testing::ThrowsMessage<base::Error>("gemm: a is float64, must be float32"));
  EXPECT_THAT(
      [&] {
        gemm(Tensor::empty({2, 5}), Transpose::kNo, Tensor::empty({5, 4}), Transpose::kNo, c, Precision::kInt8);
      },
      testing::ThrowsMessage<base::Error>("gemm: precision is int8, which needs a PackedMatrix"));
}

// Precision::kFloat32 would have to widen first, and float64 has separate loops.
TEST(Gemm, BFloat16IsRefusedWhereItIsNotMultiplied) {
  const Tensor a = Tensor::zeros({2, 5}), b = Tensor::zeros({5, 4});
  const Tensor half_a = a.to(DType::kBFloat16), half_b = b.to(DType::kBFloat16);
  const auto error_of = [](const Tensor& left, const Tensor& right, DType result, Precision precision) {
    Tensor c = Tensor::zeros({2, 4}, result);
    return test_support::error_of([&] { gemm(left, Transpose::kNo, right, Transpose::kNo, c, precision); });
  };
  EXPECT_EQ(error_of(half_a, b, DType::kFloat32, Precision::kFloat32), "gemm: a is bfloat16, must be float32");
  EXPECT_EQ(error_of(a, half_b, DType::kFloat32, Precision::kFloat32), "gemm: b is bfloat16, must be float32");
  EXPECT_EQ(error_of(half_a, half_b, DType::kBFloat16, Precision::kBFloat16), "gemm: c is bfloat16, must be float32");
  EXPECT_EQ(error_of(half_a, b.to(DType::kFloat64), DType::kFloat64, Precision::kBFloat16),
            "gemm: a is bfloat16, must be float64");
  EXPECT_EQ(error_of(half_a, half_b, DType::kFloat32, Precision::kBFloat16), "no error");
}

}  // namespace
}  // namespace dragoman::ops
