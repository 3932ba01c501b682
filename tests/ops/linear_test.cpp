#include "ops/linear.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "ops/matmul.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using test_support::check_gradients;
using test_support::close;
using test_support::gradients;
using test_support::random_tensor;

Variable linear_of(const std::vector<Variable>& inputs) {
  return linear(inputs[0], inputs[1], inputs.size() > 2 ? inputs[2] : Variable());
}

TEST(Linear, GradientsAgreeWithFiniteDifferences) {
  const Tensor x = random_tensor({3, 4}, DType::kFloat64, 1), weight = random_tensor({4, 5}, DType::kFloat64, 2);
  check_gradients(linear_of, {x, weight, random_tensor({5}, DType::kFloat64, 3)});
  check_gradients(linear_of, {x, weight});
}

TEST(Linear, AWeightStoredTransposedIsTheSameMapWithTheSameGradients) {
  const auto stored_transposed = [](const std::vector<Variable>& inputs) {
    return linear(inputs[0], inputs[1], inputs.size() > 2 ? inputs[2] : Variable(), Transpose::kYes);
  };
  const Tensor x = random_tensor({3, 4}, DType::kFloat64, 1), transposed = random_tensor({5, 4}, DType::kFloat64, 2);
  const Tensor bias = random_tensor({5}, DType::kFloat64, 3);
  check_gradients(stored_transposed, {x, transposed, bias});
  check_gradients(stored_transposed, {x, transposed});
  Tensor weight = Tensor::empty({4, 5}, DType::kFloat64);
  for (int64_t in = 0; in < 4; ++in) {
    for (int64_t out = 0; out < 5; ++out) {
      weight.data<double>()[in * 5 + out] = transposed.data<double>()[out * 4 + in];
    }
  }
  EXPECT_TRUE(close(stored_transposed({Variable(x), Variable(transposed), Variable(bias)}).value(),
                    linear_of({Variable(x), Variable(weight), Variable(bias)}).value(), 1e-14));
}

TEST(Matmul, GradientsAgreeWithFiniteDifferencesForEveryTranspose) {
  for (const Transpose ta : {Transpose::kNo, Transpose::kYes}) {
    for (const Transpose tb : {Transpose::kNo, Transpose::kYes}) {
      const tensor::Shape a = ta == Transpose::kNo ? tensor::Shape{3, 4} : tensor::Shape{4, 3};
      const tensor::Shape b = tb == Transpose::kNo ? tensor::Shape{4, 2} : tensor::Shape{2, 4};
      check_gradients([&](const std::vector<Variable>& inputs) { return matmul(inputs[0], ta, inputs[1], tb); },
                      {random_tensor(a, DType::kFloat64, 1), random_tensor(b, DType::kFloat64, 2)});
    }
  }
}

TEST(Linear, Float32AgreesWithFloat64) {
  for (const int64_t n : {1, 7, 33, 300}) {
    const std::vector<Tensor> wide = {random_tensor({n, 65}, DType::kFloat64, 1),
                                      random_tensor({65, 50}, DType::kFloat64, 2),
                                      random_tensor({50}, DType::kFloat64, 3)};
    const Tensor weights = random_tensor({n, 50}, DType::kFloat64, 4);
    std::vector<Tensor> narrow;
    for (const Tensor& tensor : wide) {
      narrow.push_back(tensor.to(DType::kFloat32));
    }
    const auto value = [](const std::vector<Tensor>& t) {
      return linear(Variable(t[0]), Variable(t[1]), Variable(t[2])).value();
    };
    EXPECT_TRUE(close(value(narrow), value(wide), 2e-6));
    const auto expected = gradients(linear_of, wide, weights);
    const auto seen = gradients(linear_of, narrow, weights.to(DType::kFloat32));
    for (size_t which = 0; which < expected.size(); ++which) {
      EXPECT_TRUE(close(seen[which], expected[which], 2e-6)) << "gradient " << which << ", n = " << n;
    }
  }
}

TEST(Linear, TwoUsesOfAWeightAddTheirGradients) {
  const Tensor x = random_tensor({5, 4}, DType::kFloat64, 1);
  check_gradients(
      [](const std::vector<Variable>& inputs) {
        return linear(linear(inputs[0], inputs[1], inputs[2]), inputs[1], inputs[2]);
      },
      {x, random_tensor({4, 4}, DType::kFloat64, 2), random_tensor({4}, DType::kFloat64, 3)});
}

TEST(Linear, SeveralMapsOfTheSameRowsHaveTheBitsOfOneByOne) {
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8}) {
    for (const int64_t depth : {33, 600, 1100}) {
      const Variable x(random_tensor({150, depth}, DType::kFloat32, 1));
      std::vector<PackedWeight> copies;
      std::vector<LinearMap> maps;
      copies.reserve(3);
      for (const int64_t columns : {7, 48, 130}) {
        const Tensor weight = random_tensor({depth, columns}, DType::kFloat32, 2);
        copies.emplace_back(weight.shape(), PackedWeightLayout{precision, Transpose::kNo, false});
        copies.back().pack(weight, 0, copies.back().panels());
        maps.push_back({{Variable(weight), &copies.back()}, Variable(random_tensor({columns}, DType::kFloat32, 3))});
      }
      const std::vector<Variable> seen = linear_each(x, maps);
      for (size_t i = 0; i < maps.size(); ++i) {
        const Variable expected = linear(x, maps[i].weight, maps[i].bias);
        EXPECT_EQ(seen[i].value().to_vector<float>(), expected.value().to_vector<float>())
            << kernels::name_of(precision) << ", depth " << depth << ", map " << i;
        EXPECT_EQ(linear_activation(x, maps[i].weight, maps[i].bias, Activation::kRelu).value().to_vector<float>(),
                  activation(expected, Activation::kRelu).value().to_vector<float>())
            << kernels::name_of(precision) << ", depth " << depth << ", map " << i;
      }
    }
  }
}

TEST(Linear, NoMapsHaveNoResults) {
  EXPECT_TRUE(linear_each(Variable(random_tensor({3, 4}, DType::kFloat32, 1)), {}).empty());
}

TEST(Linear, ErrorsNameTheArgument) {
  const Variable x(Tensor::empty({2, 16}));
  EXPECT_THAT(
      [&] {
        linear(x, Variable(Tensor::empty({64, 32})), Variable());
      },
      testing::ThrowsMessage<base::Error>("linear: weight is [64, 32], must have 16 rows as x has 16 columns"));
  EXPECT_THAT(
      [&] {
        linear(x, Variable(Tensor::empty({16, 32})), Variable(Tensor::empty({3})));
      },
      testing::ThrowsMessage<base::Error>("linear: bias is [3], must be [32]"));
}

}  // namespace
}  // namespace dragoman::ops
