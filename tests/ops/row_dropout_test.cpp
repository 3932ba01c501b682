#include "ops/row_dropout.h"

#include <gtest/gtest.h>

#include "kernels/reference/dropout.h"
#include "support/tensors.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using test_support::random_tensor;

constexpr Dropout kThird{.probability = 1.0F / 3, .seed = 0x123456789ABCDEF0, .step = 7, .site = 3, .first_row = 11};

// Laws of both ops are in dropout_test.cpp.
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

}  // namespace
}  // namespace dragoman::ops
