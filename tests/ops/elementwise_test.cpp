#include "ops/elementwise.h"

#include <gmock/gmock.h>

#include "support/error_of.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using test_support::random_tensor;

using Binary = Variable (*)(const Variable&, const Variable&);
using Unary = Variable (*)(const Variable&);

TEST(Elementwise, BinaryBackwardMatchesCentralDifferences) {
  const Tensor a = random_tensor({3, 4}, DType::kFloat64, 1), b = random_tensor({3, 4}, DType::kFloat64, 2);
  const Tensor one = random_tensor({1}, DType::kFloat64, 3);
  for (const Binary op : {add, subtract, multiply}) {
    const auto function = [&](const std::vector<Variable>& in) { return op(in[0], in[1]); };
    test_support::check_gradients(function, {a, b});
    test_support::check_gradients(function, {a, one});
    test_support::check_gradients(function, {one, b});
    test_support::check_gradients([&](const std::vector<Variable>& in) { return op(in[0], in[0]); }, {a});
  }
}

TEST(Elementwise, UnaryBackwardMatchesCentralDifferences) {
  for (const Unary op : {square, exp, sum, mean}) {
    test_support::check_gradients([&](const std::vector<Variable>& in) { return op(in[0]); }, {random_tensor({3, 4})});
  }
  test_support::check_gradients([](const std::vector<Variable>& in) { return scale(in[0], -2.5); },
                                {random_tensor({3, 4})});
}

TEST(Elementwise, ComputesWhatTheNamesSay) {
  const Variable a(Tensor::from(std::vector<float>{1, 2, 3}, {3})), b(Tensor::from(std::vector<float>{4, 5, 7}, {3}));
  const Variable two(Tensor::full({1}, 2.0));
  EXPECT_EQ(add(a, b).value().to_vector<float>(), (std::vector<float>{5, 7, 10}));
  EXPECT_EQ(subtract(a, b).value().to_vector<float>(), (std::vector<float>{-3, -3, -4}));
  EXPECT_EQ(multiply(a, b).value().to_vector<float>(), (std::vector<float>{4, 10, 21}));
  EXPECT_EQ(subtract(two, a).value().to_vector<float>(), (std::vector<float>{1, 0, -1}));
  EXPECT_EQ(scale(a, 0.5).value().to_vector<float>(), (std::vector<float>{0.5F, 1, 1.5F}));
  EXPECT_EQ(square(a).value().to_vector<float>(), (std::vector<float>{1, 4, 9}));
  EXPECT_EQ(sum(a).value().item(), 6.0);
  EXPECT_EQ(mean(a).value().item(), 2.0);
  EXPECT_FLOAT_EQ(exp(a).value().data<float>()[2], 20.085537F);
}

TEST(Elementwise, NamesWhatDoesNotFit) {
  const Variable a(Tensor::zeros({2, 3})), b(Tensor::zeros({3, 2}));
  EXPECT_EQ(test_support::error_of([&] { add(a, b); }),
            "add: left is [2, 3], right is [3, 2]; shapes must be equal or one side a single element");
  EXPECT_EQ(test_support::error_of([&] {
              multiply(a, Variable(Tensor::zeros({2, 3}, DType::kFloat64)));
            }),
            "multiply: left is float32, right is float64; must be equal");
  EXPECT_EQ(test_support::error_of([&] { mean(Variable(Tensor::zeros({0}))); }), "mean: x is [0], must have elements");
  EXPECT_THAT(test_support::error_of([&] {
                square(Variable(Tensor::zeros({2, 4}).columns(0, 2)));
              }),
              testing::HasSubstr("strided view"));
}

}  // namespace
}  // namespace dragoman::ops
