#include "ops/row_dropout.h"

#include <gmock/gmock.h>

#include "base/error.h"
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

TEST(RowDropout, EachRowIsDroppedOrScaledAsAWhole) {
  const Tensor x = random_tensor({300, 37}, DType::kFloat32);
  const Tensor y = row_dropout(Variable(x), kThird).value();
  int64_t dropped = 0;
  for (int64_t row = 0; row < 300; ++row) {
    const auto factor = static_cast<float>(kernels::reference::dropout_factor(kThird, row, 0));
    dropped += factor == 0.0F;
    for (int64_t column = 0; column < 37; ++column) {
      ASSERT_EQ(y.data<float>()[row * 37 + column], factor * x.data<float>()[row * 37 + column])
          << "row " << row << ", column " << column;
    }
  }
  EXPECT_NEAR(static_cast<double>(dropped) / 300, 1.0 / 3, 0.08);
}

TEST(RowDropout, KeepsTheMean) {
  const Tensor y = row_dropout(Variable(Tensor::full({20000, 1}, 1.0)), kThird).value();
  double sum = 0;
  for (const float value : y.span<float>()) {
    sum += value;
  }
  EXPECT_NEAR(sum / 20000, 1.0, 0.03);
}

TEST(RowDropout, EachFieldChangesTheMask) {
  const Variable ones(Tensor::full({64, 1}, 1.0));
  const Tensor y = row_dropout(ones, kThird).value();
  for (int field = 0; field < 4; ++field) {
    Dropout other = kThird;
    field == 0   ? other.seed += uint64_t{1} << 32
    : field == 1 ? ++other.step
    : field == 2 ? ++other.site
                 : ++other.first_row;
    EXPECT_FALSE(same_bits(row_dropout(ones, other).value(), y)) << "field " << field;
  }
}

TEST(RowDropout, PartsOfABatchDropWhatTheWholeDrops) {
  const Tensor x = random_tensor({9, 40}, DType::kFloat32);
  const Tensor whole = row_dropout(Variable(x), kThird).value();
  Dropout from_four = kThird;
  from_four.first_row += 4;
  EXPECT_TRUE(same_bits(row_dropout(Variable(strided_copy(x).rows(4, 9)), from_four).value(), whole.rows(4, 9)));
}

TEST(RowDropout, Float32AgreesWithFloat64AndGradientsWithFiniteDifferences) {
  const Tensor x = random_tensor({9, 5});
  EXPECT_TRUE(close(row_dropout(Variable(x.to(DType::kFloat32)), kThird).value(),
                    row_dropout(Variable(x), kThird).value(), 1e-6));
  const auto function = [](const std::vector<Variable>& inputs) { return row_dropout(inputs[0], kThird); };
  support::check_gradients(function, {x});
  const Tensor weights = random_tensor({9, 5}, DType::kFloat64, 5);
  EXPECT_TRUE(close(support::gradients(function, {x.to(DType::kFloat32)}, weights.to(DType::kFloat32))[0],
                    support::gradients(function, {x}, weights)[0], 1e-6));
}

TEST(RowDropout, ProbabilityZeroIsTheIdentityAndOthersAreChecked) {
  const Variable x(random_tensor({2, 3}, DType::kFloat32));
  EXPECT_EQ(row_dropout(x, {}).value().raw_data(), x.value().raw_data());
  EXPECT_THAT([&] { row_dropout(x, {.probability = 1.5F}); },
              testing::ThrowsMessage<base::Error>("row_dropout: probability is 1.5, must be in [0, 1)"));
  EXPECT_THAT(
      [&] {
        row_dropout(Variable(Tensor::zeros({2, 3}, DType::kBFloat16)), kThird);
      },
      testing::ThrowsMessage<base::Error>("row_dropout: x is bfloat16, must be float32"));
}

}  // namespace
}  // namespace dragoman::ops
