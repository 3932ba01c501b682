#include "ops/columns.h"

#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using test_support::Function;
using test_support::random_tensor;

TEST(ConcatenateColumns, StandSideBySideWithGradients) {
  const Function function = [](const std::vector<Variable>& in) { return concatenate_columns(in[0], in[1]); };
  test_support::check_gradients(function, {random_tensor({3, 2}), random_tensor({3, 4})});
  EXPECT_EQ(test_support::error_of([] {
              concatenate_columns(Variable(Tensor::zeros({4, 1})), Variable(Tensor::zeros({3, 2})));
            }),
            "concatenate_columns: right is [3, 2], must be [4, 2]");
}

TEST(WidenHeads, EachHeadIsFollowedByZeros) {
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  EXPECT_EQ(widen_heads(Variable(x), 2, 3).value().to_vector<float>(),
            (std::vector<float>{1, 2, 0, 3, 4, 0, 5, 6, 0, 7, 8, 0}));
  const Tensor strided = Tensor::from(std::vector<float>{9, 1, 2, 9, 3, 4}, {2, 3}).columns(1, 3);
  EXPECT_EQ(widen_heads(Variable(strided), 2, 2).value().to_vector<float>(),
            (std::vector<float>{1, 0, 2, 0, 3, 0, 4, 0}));
  EXPECT_TRUE(test_support::same_bits(widen_heads(Variable(x), 2, 2).value(), x));
}

TEST(WidenHeads, GradientsAreThoseOfTheColumnsThatWereThere) {
  const Function function = [](const std::vector<Variable>& in) { return widen_heads(in[0], 3, 4); };
  test_support::check_gradients(function, {random_tensor({5, 6})});
}

TEST(WidenHeads, WrongWidthsAreRefused) {
  const auto error_of = [](int64_t columns, int64_t n_heads, int64_t width) {
    return test_support::error_of([&] { widen_heads(Variable(Tensor::zeros({2, columns})), n_heads, width); });
  };
  EXPECT_EQ(error_of(10, 4, 2), "widen_heads: x has 10 columns, must have as many for each of 4 heads, at most 2");
  EXPECT_EQ(error_of(12, 4, 2), "widen_heads: x has 12 columns, must have as many for each of 4 heads, at most 2");
}

}  // namespace
}  // namespace dragoman::ops
