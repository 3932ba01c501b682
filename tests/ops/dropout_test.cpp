#include "ops/dropout.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "kernels/cpu/rows/dropout_cpu.h"
#include "kernels/reference/dropout.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using support::close;
using support::random_tensor;
using support::same_bits;
using support::strided_copy;
using tensor::DType;

constexpr Dropout kThird{.probability = 1.0F / 3, .seed = 0x123456789ABCDEF0, .step = 7, .site = 3, .first_row = 11};

TEST(Dropout, MaskIsTheDefinedOneForEveryWidth) {
  for (const int64_t columns : {1, 7, 8, 31, 33, 64, 65, 300}) {
    for (const int64_t row : {0L, 5L, 4294967290L}) {
      std::vector<float> scales(static_cast<size_t>(columns) + 1, -1.0F);
      kernels::dropout_row_scales(kThird, row, columns, scales.data());
      for (int64_t column = 0; column < columns; ++column) {
        ASSERT_EQ(scales[static_cast<size_t>(column)],
                  static_cast<float>(kernels::reference::dropout_factor(kThird, row, column)))
            << "row " << row << ", column " << column << " of " << columns;
      }
      EXPECT_EQ(scales.back(), -1.0F) << "wrote past the row of " << columns;
    }
  }
}

TEST(Dropout, DropsTheAskedShareAndKeepsTheMean) {
  const Tensor y = dropout(Variable(Tensor::full({400, 500}, 1.0)), kThird).value();
  double sum = 0, zeros = 0;
  for (const float value : y.span<float>()) {
    sum += value;
    zeros += value == 0.0F;
  }
  EXPECT_NEAR(sum / 200000.0, 1.0, 0.01);
  EXPECT_NEAR(zeros / 200000.0, 1.0 / 3, 0.005);
}

TEST(Dropout, EachFieldChangesTheMask) {
  const Variable ones(Tensor::full({4, 64}, 1.0));
  const Tensor y = dropout(ones, kThird).value();
  for (int field = 0; field < 4; ++field) {
    Dropout other = kThird;
    field == 0   ? other.seed += uint64_t{1} << 32
    : field == 1 ? ++other.step
    : field == 2 ? ++other.site
                 : ++other.first_row;
    EXPECT_FALSE(same_bits(dropout(ones, other).value(), y)) << "field " << field;
  }
}

TEST(Dropout, PartsOfABatchDropWhatTheWholeDrops) {
  const Tensor x = random_tensor({9, 40}, DType::kFloat32);
  const Tensor whole = dropout(Variable(x), kThird).value();
  Dropout from_four = kThird;
  from_four.first_row += 4;
  EXPECT_TRUE(same_bits(dropout(Variable(strided_copy(x).rows(4, 9)), from_four).value(), whole.rows(4, 9)));
}

TEST(Dropout, Float32AgreesWithFloat64AndGradientsWithFiniteDifferences) {
  const Tensor x = random_tensor({5, 37});
  EXPECT_TRUE(
      close(dropout(Variable(x.to(DType::kFloat32)), kThird).value(), dropout(Variable(x), kThird).value(), 1e-6));
  const auto function = [](const std::vector<Variable>& inputs) { return dropout(inputs[0], kThird); };
  support::check_gradients(function, {x});
  const Tensor weights = random_tensor({5, 37}, DType::kFloat64, 5);
  EXPECT_TRUE(close(support::gradients(function, {x.to(DType::kFloat32)}, weights.to(DType::kFloat32))[0],
                    support::gradients(function, {x}, weights)[0], 1e-6));
}

TEST(Dropout, RowsIntoBFloat16AreTheFloat32ResultRounded) {
  for (const int64_t columns : {1, 7, 16, 31, 33, 64, 300}) {
    const Tensor x = strided_copy(random_tensor({5, columns}, DType::kFloat32));
    Tensor exact = Tensor::empty({5, columns});
    Tensor wide = Tensor::full({5, columns + 4}, 9.0, DType::kBFloat16), y = wide.columns(1, 1 + columns);
    kernels::dropout_rows(x, kThird, exact);
    kernels::dropout_rows(x, kThird, y);
    EXPECT_TRUE(same_bits(y, exact.to(DType::kBFloat16))) << columns << " columns";
    for (const int64_t beside : {int64_t{0}, columns + 1, columns + 3}) {
      EXPECT_TRUE(close(wide.columns(beside, beside + 1), Tensor::full({5, 1}, 9.0), 0))
          << "wrote beside the view of " << columns << " columns";
    }
  }
}

TEST(Dropout, TheOpItselfTakesNoBFloat16) {
  EXPECT_THAT(
      [&] {
        dropout(Variable(Tensor::zeros({2, 3}, DType::kBFloat16)), kThird);
      },
      testing::ThrowsMessage<base::Error>("dropout: x is bfloat16, must be float32"));
}

TEST(Dropout, ProbabilityZeroIsTheIdentityAndOthersAreChecked) {
  const Variable x(random_tensor({2, 3}, DType::kFloat32));
  EXPECT_EQ(dropout(x, {}).value().raw_data(), x.value().raw_data());
  EXPECT_THAT([&] { dropout(x, {.probability = 1.5F}); },
              testing::ThrowsMessage<base::Error>("dropout: probability is 1.5, must be in [0, 1)"));
}

}  // namespace
}  // namespace dragoman::ops
