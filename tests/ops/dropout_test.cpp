#include "ops/dropout.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "kernels/cpu/rows/dropout_cpu.h"
#include "kernels/reference/dropout.h"
#include "ops/row_dropout.h"
#include "support/error_of.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using test_support::close;
using test_support::error_of;
using test_support::random_tensor;
using test_support::same_bits;
using test_support::strided_copy;

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

// What holds for both ops, which differ in what a mask drops: elements or rows.
using Op = Variable (*)(const Variable&, const Dropout&);

struct NamedOp {
  std::string name;
  Op op;
};

class DropoutLaws : public testing::TestWithParam<NamedOp> {
 protected:
  static Tensor apply(const Tensor& x, const Dropout& dropout = kThird) {
    return GetParam().op(Variable(x), dropout).value();
  }
};
INSTANTIATE_TEST_SUITE_P(Ops, DropoutLaws,
                         testing::Values(NamedOp{"dropout", dropout}, NamedOp{"row_dropout", row_dropout}),
                         [](const auto& named) { return named.param.name; });

TEST_P(DropoutLaws, EachFieldChangesTheMask) {
  const Tensor ones = Tensor::full({64, 4}, 1.0), y = apply(ones);
  std::array<Dropout, 4> others{kThird, kThird, kThird, kThird};
  others[0].seed += uint64_t{1} << 32;
  others[1].step += 1;
  others[2].site += 1;
  others[3].first_row += 1;
  for (size_t field = 0; field < others.size(); ++field) {
    EXPECT_FALSE(same_bits(apply(ones, others[field]), y)) << "field " << field;
  }
}

TEST_P(DropoutLaws, PartsOfABatchDropWhatTheWholeDrops) {
  const Tensor x = random_tensor({9, 40}, DType::kFloat32);
  Dropout from_four = kThird;
  from_four.first_row += 4;
  EXPECT_TRUE(same_bits(apply(strided_copy(x).rows(4, 9), from_four), apply(x).rows(4, 9)));
}

TEST_P(DropoutLaws, Float32AgreesWithFloat64AndGradientsWithFiniteDifferences) {
  const Tensor x = random_tensor({9, 37});
  EXPECT_TRUE(close(apply(x.to(DType::kFloat32)), apply(x), 1e-6));
  const auto function = [](const std::vector<Variable>& inputs) { return GetParam().op(inputs[0], kThird); };
  test_support::check_gradients(function, {x});
  const Tensor weights = random_tensor({9, 37}, DType::kFloat64, 5);
  EXPECT_TRUE(close(test_support::gradients(function, {x.to(DType::kFloat32)}, weights.to(DType::kFloat32))[0],
                    test_support::gradients(function, {x}, weights)[0], 1e-6));
}

TEST_P(DropoutLaws, ProbabilityZeroIsTheIdentityAndOthersAreChecked) {
  const auto& [name, op] = GetParam();
  const Variable x(random_tensor({2, 3}, DType::kFloat32)), narrow(Tensor::zeros({2, 3}, DType::kBFloat16));
  EXPECT_EQ(op(x, {}).value().raw_data(), x.value().raw_data());
  EXPECT_EQ(error_of([&] { op(x, {.probability = 1.5F}); }), name + ": probability is 1.5, must be in [0, 1)");
  EXPECT_EQ(error_of([&] { op(narrow, kThird); }), name + ": x is bfloat16, must be float32");
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

}  // namespace
}  // namespace dragoman::ops
