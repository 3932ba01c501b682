#include "ops/reshape.h"

#include <gmock/gmock.h>

#include "support/error_of.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using test_support::random_tensor;

TEST(Reshape, SharesTheMemoryAndKeepsTheOrder) {
  const Tensor x = random_tensor({2, 3, 4});
  const Variable y = reshape(Variable(x), {6, 4});
  EXPECT_EQ(y.shape(), tensor::Shape({6, 4}));
  EXPECT_EQ(y.value().raw_data(), x.raw_data());
}

TEST(Reshape, BackwardMatchesCentralDifferences) {
  test_support::check_gradients(
      [](const std::vector<Variable>& in) {
        return reshape(in[0], {3, 4});
      },
      {random_tensor({2, 6})});
}

TEST(Reshape, RefusesAnotherSize) {
  EXPECT_EQ(test_support::error_of([] {
              reshape(Variable(random_tensor({2, 3})), {4});
            }),
            "reshape: x is [2, 3], has 6 elements, [4] has 4; sizes must be equal");
}

TEST(Reshape, RefusesAStridedView) {
  EXPECT_EQ(test_support::error_of([] {
              reshape(Variable(random_tensor({2, 3}).columns(0, 2)), {4});
            }),
            "reshape: x is a strided view of shape [2, 2], must be contiguous");
}

}  // namespace
}  // namespace dragoman::ops
