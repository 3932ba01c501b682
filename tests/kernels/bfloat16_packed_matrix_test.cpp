// Rows of bfloat16 that products with packed matrices take and give.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/gemm/packed_matrix.h"
#include "kernels/team.h"
#include "ops/activation.h"
#include "support/error_of.h"
#include "support/tensors.h"

namespace dragoman::kernels {
namespace {

using tensor::DType;
using test_support::close;
using test_support::error_of;
using test_support::random_tensor;
using test_support::rounded;
using test_support::same_bits;
using test_support::strided_copy;

constexpr Activation kActivations[] = {Activation::kNone, Activation::kRelu,     Activation::kGelu,
                                       Activation::kSilu, Activation::kGeluTanh, Activation::kReluSquared};

Tensor random_float32(const tensor::Shape& shape, uint64_t seed) {
  return random_tensor(shape, DType::kFloat32, seed);
}

PackedMatrix packed(const Tensor& weight) {
  return PackedMatrix(weight, Transpose::kNo, Precision::kBFloat16);
}

Tensor multiply(const PackedMatrix& matrix, const Tensor& x, const PackedEpilogue& epilogue, DType dtype) {
  Tensor y = strided_copy(Tensor::full({x.dim(0), matrix.columns()}, 9.0, dtype));
  matrix.multiply(x, epilogue, y);
  return y;
}

// Numbers of bfloat16 in every way that products take them: as float32, and as bfloat16 whose rows tiles read where
// they lie (the second and third), or do not.
std::vector<Tensor> ways_to_lie(const Tensor& x) {
  const Tensor narrow = x.to(DType::kBFloat16);
  const int64_t to_even = x.dim(1) % 2;
  return {x, narrow, strided_copy(narrow, 4 + to_even), strided_copy(narrow, 6 + to_even, 1),
          strided_copy(narrow, 5 + to_even)};
}

// Rows that are whole tiles and not, more than a block of them; depths of one block and of several.
struct Size {
  int64_t rows, depth, columns;
};

class Sizes : public testing::TestWithParam<Size> {};
INSTANTIATE_TEST_SUITE_P(BFloat16PackedMatrix, Sizes,
                         testing::Values(Size{1, 1, 1}, Size{19, 7, 31}, Size{16, 64, 48}, Size{33, 33, 49},
                                         Size{48, 96, 130}, Size{64, 288, 7}, Size{272, 64, 50}, Size{300, 31, 20},
                                         Size{16, 1024, 50}, Size{19, 1056, 20}, Size{32, 1100, 130}, Size{7, 2063, 20},
                                         Size{48, 2112, 50}));

TEST_P(Sizes, RowsGiveTheBitsOfTheSameNumbersInFloat32) {
  const auto [rows, depth, columns] = GetParam();
  const Tensor x = rounded(random_float32({rows, depth}, 1)), bias = random_float32({columns}, 3);
  const PackedMatrix matrix = packed(random_float32({depth, columns}, 2));
  const Tensor plain = multiply(matrix, x, {}, DType::kFloat32);
  const Tensor biased = multiply(matrix, x, {bias}, DType::kFloat32);
  const std::vector<Tensor> ways = ways_to_lie(x);
  for (size_t way = 0; way < ways.size(); ++way) {
    const Tensor& same = ways[way];
    EXPECT_TRUE(same_bits(multiply(matrix, same, {}, DType::kFloat32), plain)) << "way " << way;
    EXPECT_TRUE(same_bits(multiply(matrix, same, {bias}, DType::kFloat32), biased)) << "way " << way << " with bias";
    EXPECT_TRUE(same_bits(multiply(matrix, same, {}, DType::kBFloat16), plain.to(DType::kBFloat16)))
        << "way " << way << " into bfloat16";
    EXPECT_TRUE(same_bits(multiply(matrix, same, {bias}, DType::kBFloat16), biased.to(DType::kBFloat16)))
        << "way " << way << " with bias, into bfloat16";
    Tensor sum = strided_copy(biased), expected = biased.clone();
    matrix.multiply_accumulate(same, sum);
    matrix.multiply_accumulate(x, expected);
    EXPECT_TRUE(same_bits(sum, expected)) << "way " << way << " accumulated";
  }
}

// Into bfloat16 the sum is rounded first, then what the activation makes of that: as the two ops do it.
TEST_P(Sizes, ActivationIsThatOfTheRoundedSum) {
  const auto [rows, depth, columns] = GetParam();
  const Tensor x = random_tensor({rows, depth}, DType::kBFloat16, 1), bias = random_float32({columns}, 3);
  const PackedMatrix matrix = packed(random_float32({depth, columns}, 2));
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    const Tensor sum = multiply(matrix, x, {bias}, dtype);
    for (const Activation kind : kActivations) {
      EXPECT_TRUE(
          same_bits(multiply(matrix, x, {bias, kind}, dtype), ops::activation(autograd::Variable(sum), kind).value()))
          << "activation " << static_cast<int>(kind) << " in " << tensor::dtype_name(dtype);
    }
  }
}

TEST_P(Sizes, SeveralProductsOfTheSameRowsHaveTheirBitsInEitherType) {
  const auto [rows, depth, columns] = GetParam();
  const Tensor x = random_tensor({rows, depth}, DType::kBFloat16, 1), bias = random_float32({columns}, 3);
  const PackedMatrix matrix = packed(random_float32({depth, columns}, 2)),
                     other = packed(random_float32({depth, 33}, 4));
  const PackedEpilogue relu{bias, Activation::kRelu}, none;
  for (const auto& [first, second] : {std::pair{DType::kBFloat16, DType::kFloat32},
                                      {DType::kFloat32, DType::kBFloat16},
                                      {DType::kBFloat16, DType::kBFloat16}}) {
    const Tensor of_matrix = Tensor::empty({rows, columns}, first), of_other = Tensor::empty({rows, 33}, second);
    ProductOfSame products[] = {{&matrix, relu, of_matrix}, {&other, none, of_other}};
    PackedMatrix::multiply_each(x, products);
    EXPECT_TRUE(same_bits(of_matrix, multiply(matrix, x, relu, first)))
        << tensor::dtype_name(first) << " before " << tensor::dtype_name(second);
    EXPECT_TRUE(same_bits(of_other, multiply(other, x, none, second)))
        << tensor::dtype_name(second) << " after " << tensor::dtype_name(first);
  }
}

TEST_P(Sizes, NothingIsWrittenOutsideAView) {
  const auto [rows, depth, columns] = GetParam();
  const int64_t width = columns + 70;
  Tensor wide = Tensor::full({rows, width}, 99.0, DType::kBFloat16), view = wide.columns(3, 3 + columns);
  const Tensor x = random_tensor({rows, depth}, DType::kBFloat16, 1);
  packed(random_float32({depth, columns}, 2)).multiply(x, {{}, Activation::kRelu}, view);
  const std::vector<float> seen = wide.to(DType::kFloat32).to_vector<float>();
  for (int64_t i = 0; i < wide.size(); ++i) {
    const int64_t column = i % width;
    const bool inside = column >= 3 && column < 3 + columns;
    ASSERT_TRUE(inside || seen[static_cast<size_t>(i)] == 99.0F) << i / width << ", " << column << " was written";
  }
}

// Of 608 columns rows are read where they lie if there are whole tiles of them, else packed.
TEST(BFloat16PackedMatrix, ABitOfARowDoesNotDependOnTheOtherRows) {
  for (const int64_t depth : {600, 608, 1100}) {
    const PackedMatrix matrix = packed(random_float32({depth, 100}, 5));
    const Tensor x = random_tensor({300, depth}, DType::kBFloat16, 4);
    const Tensor all = multiply(matrix, x, {}, DType::kBFloat16);
    for (int64_t m = 1; m <= 50; ++m) {
      ASSERT_TRUE(same_bits(multiply(matrix, x.rows(0, m), {}, DType::kBFloat16), all.rows(0, m)))
          << "first " << m << " rows, depth " << depth;
      ASSERT_TRUE(same_bits(multiply(matrix, x.rows(300 - m, 300), {}, DType::kBFloat16), all.rows(300 - m, 300)))
          << "last " << m << " rows, depth " << depth;
    }
  }
}

TEST(BFloat16PackedMatrix, HidesNoNotANumber) {
  for (const uint16_t bits : {0x7FC0, 0x7FFF, 0x7F81, 0xFFFF}) {
    for (const int64_t depth : {40, 64, 2112}) {
      Tensor x = Tensor::full({16, depth}, 1.0, DType::kBFloat16);
      x.data<tensor::BFloat16>()[5 * depth + 7].bits = bits;
      const PackedMatrix matrix = packed(Tensor::full({depth, 20}, 1.0));
      for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
        const Tensor y = multiply(matrix, x, {{}, Activation::kRelu}, dtype).to(DType::kFloat32);  // [16, 20]
        for (int64_t column = 0; column < 20; ++column) {
          const float seen = y.data<float>()[5 * 20 + column];
          ASSERT_TRUE(std::isnan(seen)) << std::hex << bits << " came out as " << seen << " in column " << column;
        }
        EXPECT_EQ(y.data<float>()[6 * 20], static_cast<float>(depth)) << "a row beside it";
      }
    }
  }
}

TEST(BFloat16PackedMatrix, SomeColumnsHaveTheBitsOfTheProduct) {
  constexpr int64_t kPart = kPartColumns;
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8}) {
    for (const auto& [rows, depth] : {std::pair<int64_t, int64_t>{19, 70}, {32, 96}, {272, 33}, {16, 2112}}) {
      const Tensor bias = random_float32({1000}, 3);
      const PackedMatrix matrix(random_float32({depth, 1000}, 2), Transpose::kNo, precision);
      const bool narrow = precision == Precision::kBFloat16;
      for (const DType in : {DType::kFloat32, narrow ? DType::kBFloat16 : DType::kFloat32}) {
        for (const DType out : {DType::kFloat32, narrow ? DType::kBFloat16 : DType::kFloat32}) {
          const Tensor x = random_float32({rows, depth}, 1).to(in);
          for (const Tensor& addend : {Tensor(), bias}) {
            const Tensor whole = multiply(matrix, x, {addend}, out);
            for (const auto& [begin, end] :
                 {std::pair<int64_t, int64_t>{0, kPart}, {kPart, 2 * kPart}, {2 * kPart, 1000}, {0, 1000}}) {
              Tensor y = strided_copy(Tensor::full({rows, end - begin}, 9.0, out));
              matrix.multiply_columns(x, addend, begin, y);
              EXPECT_TRUE(same_bits(y, whole.columns(begin, end)))
                  << "columns " << begin << " to " << end << " of " << rows << " x " << depth << " "
                  << tensor::dtype_name(in) << ", " << name_of(precision) << (addend.defined() ? ", with bias" : "");
            }
          }
        }
      }
    }
  }
}

TEST(BFloat16PackedMatrix, PartsOfTheDepthAddUpToTheProduct) {
  constexpr int64_t kPart = kPartColumns;
  for (const int64_t depth : {kPart, 2 * kPart, 1000L, 1303L}) {
    for (const int64_t rows : {1, 19, 32, 272}) {
      const Tensor x = rounded(random_float32({rows, depth}, 1));
      const PackedMatrix matrix = packed(random_float32({depth, 70}, 2));
      const auto sum_of_parts = [&](const Tensor& same) {
        Tensor sum = Tensor::full({rows, 70}, 9.0);
        for (int64_t first = 0; first < depth; first += kPart) {
          matrix.multiply_rows(same.columns(first, std::min(first + kPart, depth)), first, first > 0, sum);
        }
        return sum;
      };
      const Tensor sum = sum_of_parts(x);
      EXPECT_TRUE(close(sum, multiply(matrix, x, {}, DType::kFloat32), 2e-6)) << rows << " rows, depth " << depth;
      EXPECT_TRUE(same_bits(sum_of_parts(x.to(DType::kBFloat16)), sum)) << rows << " rows, depth " << depth;
    }
  }
}

TEST(BFloat16PackedMatrix, SomeRowsAreAMatrixOfTheirOwn) {
  const Tensor weight = random_float32({1000, 70}, 2);
  const PackedMatrix matrix = packed(weight);
  for (const int64_t depth : {1, 31, 100, 320, 520}) {
    const Tensor x = random_tensor({32, depth}, DType::kBFloat16, 1);
    Tensor seen = Tensor::full({32, 70}, 9.0);
    matrix.multiply_rows(x, 480, false, seen);
    const Tensor expected = multiply(packed(weight.rows(480, 480 + depth)), x, {}, DType::kFloat32);
    EXPECT_TRUE(same_bits(seen, expected)) << depth << " rows";
  }
}

TEST(BFloat16PackedMatrix, ATeamKeepsTheBits) {
  for (const auto& [rows, depth, columns] : {Size{1, 512, 2048}, {16, 288, 1000}, {40, 256, 31}, {2, 1100, 4999}}) {
    const Tensor x = random_tensor({rows, depth}, DType::kBFloat16, 1), bias = random_float32({columns}, 2);
    const PackedMatrix matrix = packed(random_float32({depth, columns}, 3));
    for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
      const Tensor alone = multiply(matrix, x, {bias, Activation::kRelu}, dtype);
      base::WorkerPool pool(3);
      const TeamScope scope(&pool);
      EXPECT_TRUE(same_bits(multiply(matrix, x, {bias, Activation::kRelu}, dtype), alone))
          << rows << " x " << depth << " x " << columns << " in " << tensor::dtype_name(dtype);
    }
  }
}

TEST(BFloat16PackedMatrix, EmptySidesAreAllowed) {
  const Tensor bias = random_float32({50}, 1);
  const Tensor no_depth =
      multiply(packed(Tensor::empty({0, 50})), Tensor::empty({2, 0}, DType::kBFloat16), {bias}, DType::kBFloat16);
  for (const int64_t row : {0, 1}) {
    EXPECT_TRUE(same_bits(no_depth.rows(row, row + 1), bias.to(DType::kBFloat16).reshape({1, 50}))) << "row " << row;
  }
  const Tensor no_rows = Tensor::empty({0, 4}, DType::kBFloat16);
  EXPECT_EQ(multiply(packed(random_float32({4, 50}, 1)), no_rows, {}, DType::kBFloat16).size(), 0);
}

TEST(BFloat16PackedMatrix, IsRefusedByMatricesOfOtherPrecisions) {
  for (const Precision precision : {Precision::kFloat32, Precision::kInt8}) {
    const PackedMatrix matrix(Tensor::zeros({4, 6}), Transpose::kNo, precision);
    const Tensor x = Tensor::zeros({3, 4}), half_x = x.to(DType::kBFloat16);
    Tensor y = Tensor::zeros({3, 6}), half_y = y.to(DType::kBFloat16);
    const std::string of_x = "packed_matrix: x is bfloat16, must be float32";
    const std::string of_y = "packed_matrix: y is bfloat16, must be float32";
    EXPECT_EQ(error_of([&] { matrix.multiply(half_x, {}, y); }), of_x) << name_of(precision);
    EXPECT_EQ(error_of([&] { matrix.multiply(x, {}, half_y); }), of_y) << name_of(precision);
    EXPECT_EQ(error_of([&] { matrix.multiply_columns(half_x, {}, 0, y); }), of_x) << name_of(precision);
    EXPECT_EQ(error_of([&] { matrix.multiply_columns(x, {}, 0, half_y); }), of_y) << name_of(precision);
    EXPECT_EQ(error_of([&] { matrix.multiply_rows(half_x, 0, false, y); }), of_x) << name_of(precision);
    EXPECT_EQ(error_of([&] { matrix.multiply_in_parts(half_x, {}, {}); }), of_x) << name_of(precision);
  }
}

// Sums that wait for more are float32.
TEST(BFloat16PackedMatrix, SumsAreNotRoundedBeforeTheyAreWhole) {
  const PackedMatrix matrix = packed(Tensor::zeros({4, 6}));
  const Tensor x = Tensor::zeros({3, 4}, DType::kBFloat16);
  Tensor y = Tensor::zeros({3, 6}, DType::kBFloat16);
  const std::string refused = "packed_matrix: y is bfloat16, must be float32";
  EXPECT_EQ(error_of([&] { matrix.multiply_accumulate(x, y); }), refused);
  EXPECT_EQ(error_of([&] { matrix.multiply_rows(x, 0, false, y); }), refused);
}

TEST(BFloat16PackedMatrix, ErrorsNameTheColumnsAndRowsAskedFor) {
  const PackedMatrix matrix = packed(Tensor::zeros({4, 900}));
  const Tensor x = Tensor::zeros({3, 4}, DType::kBFloat16);
  const auto columns_error = [&](const Tensor& rows, int64_t first, const tensor::Shape& shape) {
    Tensor y = Tensor::zeros(shape, DType::kBFloat16);
    return error_of([&] { matrix.multiply_columns(rows, {}, first, y); });
  };
  EXPECT_EQ(columns_error(x, 480, {3, 480}),
            "packed_matrix: columns 480 to 960 requested, there are 900; must be whole parts of 480, but the last");
  EXPECT_EQ(columns_error(x, 48, {3, 48}),
            "packed_matrix: columns 48 to 96 requested, there are 900; must be whole parts of 480, but the last");
  EXPECT_EQ(columns_error(x, -480, {3, 480}),
            "packed_matrix: columns -480 to 0 requested, there are 900; must be whole parts of 480, but the last");
  EXPECT_EQ(columns_error(x, 480, {3, 100}),
            "packed_matrix: columns 480 to 580 requested, there are 900; must be whole parts of 480, but the last")
      << "they end inside a panel";
  EXPECT_EQ(columns_error(x, 480, {3, 420}), "no error");
  EXPECT_EQ(columns_error(x, 0, {2, 480}), "packed_matrix: y is [2, 480], must be [3, 480]");
  EXPECT_EQ(columns_error(x.columns(0, 3), 0, {3, 480}), "packed_matrix: x is [3, 3], must have 4 columns");
  Tensor y = Tensor::zeros({3, 900});
  EXPECT_EQ(error_of([&] { matrix.multiply_rows(x, 480, false, y); }),
            "packed_matrix: rows 480 to 484 requested, there are 4; the first must be a multiple of 480");
  EXPECT_EQ(error_of([&] { matrix.multiply(x.columns(0, 3), {}, y); }),
            "packed_matrix: x is [3, 3], must have 4 columns");
}

}  // namespace
}  // namespace dragoman::kernels
