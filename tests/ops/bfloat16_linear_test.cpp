// Rows of bfloat16 between recorded products: linear maps with weights that are packed in bfloat16.
#include <gmock/gmock.h>

#include "ops/gemm.h"
#include "ops/linear.h"
#include "support/error_of.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using autograd::Tape;
using autograd::TapeScope;
using tensor::DType;
using test_support::error_of;
using test_support::gradients;
using test_support::random_tensor;
using test_support::rounded;
using test_support::same_bits;
using test_support::strided_copy;

constexpr DType kBoth[] = {DType::kFloat32, DType::kBFloat16};

Tensor random_float32(const tensor::Shape& shape, uint64_t seed) {
  return random_tensor(shape, DType::kFloat32, seed);
}

PackedWeight packed(const Tensor& weight, Transpose stored = Transpose::kNo, bool with_backward = true,
                    Precision precision = Precision::kBFloat16) {
  PackedWeight copy(weight.shape(), {precision, stored, with_backward});
  copy.pack(weight, 0, copy.panels());
  return copy;
}

// C = op(A) op(B) of bfloat16 operands, in float32.
Tensor product(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b) {
  Tensor c =
      Tensor::empty({a.dim(transpose_a == Transpose::kYes ? 1 : 0), b.dim(transpose_b == Transpose::kYes ? 0 : 1)});
  gemm(a, transpose_a, b, transpose_b, c, Precision::kBFloat16);
  return c;
}

// The sum of the rows, from the first to the last.
Tensor sum_of_rows(const Tensor& matrix) {
  Tensor sums = Tensor::zeros({matrix.dim(1)});
  const std::vector<float> values = matrix.to(DType::kFloat32).to_vector<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    sums.data<float>()[static_cast<int64_t>(i) % matrix.dim(1)] += values[i];
  }
  return sums;
}

// As a training records it.
Tensor recorded(const test_support::Function& function, const std::vector<Tensor>& inputs) {
  Tape tape;
  const TapeScope scope(&tape);
  std::vector<Variable> variables;
  for (const Tensor& input : inputs) {
    variables.emplace_back(input, true);
  }
  return function(variables).value();
}

// An op that hands its gradient on to both of two variables.
Variable hand_to_both(const std::vector<Variable>& two) {
  return autograd::record("hand_to_both", two[0].value(), {&two[0], &two[1]}, [two](const Tensor& grad_output) {
    two[0].add_grad(grad_output);
    two[1].add_grad(grad_output);
  });
}

struct Size {
  int64_t rows, depth, columns;
};

// Rows that are whole tiles and not; depths of one block and of several.
class BFloat16Linear : public testing::TestWithParam<Size> {
 protected:
  BFloat16Linear()
      : x_(rounded(random_float32({GetParam().rows, GetParam().depth}, 1))),
        weight_(random_float32({GetParam().depth, GetParam().columns}, 2)),
        bias_(random_float32({GetParam().columns}, 3)),
        grad_y_(random_tensor({GetParam().rows, GetParam().columns}, DType::kBFloat16, 4)) {}

  const Tensor x_;       // [N, Din], numbers of bfloat16
  const Tensor weight_;  // [Din, Dout]
  const Tensor bias_;    // [Dout]
  const Tensor grad_y_;  // [N, Dout]
};

INSTANTIATE_TEST_SUITE_P(Sizes, BFloat16Linear,
                         testing::Values(Size{1, 7, 5}, Size{33, 65, 50}, Size{16, 64, 48}, Size{48, 96, 130},
                                         Size{272, 64, 96}, Size{16, 1100, 20}, Size{32, 20, 1100}));

TEST_P(BFloat16Linear, WhatIsRecordedIsTheFloat32ResultRounded) {
  const PackedWeight copy = packed(weight_);
  for (const Tensor& addend : {Tensor(), bias_}) {
    const auto map = [&](const std::vector<Variable>& in) {
      return linear(in[0], {in[1], &copy}, addend.defined() ? in[2] : Variable());
    };
    const Tensor inference = map({Variable(x_), Variable(weight_), Variable(bias_)}).value();
    ASSERT_EQ(inference.dtype(), DType::kFloat32) << "nothing was recorded";
    for (const DType dtype : kBoth) {
      const Tensor x = strided_copy(x_.to(dtype));
      EXPECT_TRUE(same_bits(recorded(map, {x, weight_, bias_}), inference.to(DType::kBFloat16)))
          << "recorded, of " << tensor::dtype_name(dtype);
      EXPECT_TRUE(same_bits(map({Variable(x), Variable(weight_), Variable(bias_)}).value(), inference.to(dtype)))
          << "inference, of " << tensor::dtype_name(dtype);
    }
  }
}

TEST_P(BFloat16Linear, GradientsAreTheProductsOfTheSameNumbersInFloat32) {
  const Tensor grad_x = product(grad_y_, Transpose::kNo, weight_, Transpose::kYes);  // [N, Din]
  const Tensor grad_weight = product(x_, Transpose::kYes, grad_y_, Transpose::kNo);  // [Din, Dout]
  const Tensor grad_bias = sum_of_rows(grad_y_);                                     // [Dout]
  for (const bool with_backward : {true, false}) {
    const PackedWeight copy = packed(weight_, Transpose::kNo, with_backward);
    const auto map = [&](const std::vector<Variable>& in) { return linear(in[0], {in[1], &copy}, in[2]); };
    for (const DType dtype : kBoth) {
      const auto seen = gradients(map, {x_.to(dtype), weight_, bias_}, grad_y_);
      const auto label = [&] {
        return testing::Message() << "x in " << tensor::dtype_name(dtype)
                                  << (with_backward ? "" : ", without a copy for gradients");
      };
      EXPECT_TRUE(same_bits(seen[0], grad_x.to(dtype))) << "gradient of x, " << label();
      EXPECT_TRUE(same_bits(seen[1], grad_weight)) << "gradient of the weight, " << label();
      EXPECT_TRUE(same_bits(seen[2], grad_bias)) << "gradient of the bias, " << label();
    }
  }
}

TEST_P(BFloat16Linear, AWeightStoredTransposedIsTheSameMapWithTheSameGradients) {
  const Tensor table = random_float32({GetParam().columns, GetParam().depth}, 5);  // [Dout, Din]
  const PackedWeight copy = packed(table, Transpose::kYes);
  const auto map = [&](const std::vector<Variable>& in) {
    return linear(in[0], {in[1], &copy}, Variable(), Transpose::kYes);
  };
  for (const DType dtype : kBoth) {
    EXPECT_TRUE(same_bits(recorded(map, {x_.to(dtype), table}),
                          product(x_, Transpose::kNo, table, Transpose::kYes).to(DType::kBFloat16)))
        << tensor::dtype_name(dtype);
    const auto seen = gradients(map, {x_.to(dtype), table}, grad_y_);
    EXPECT_TRUE(same_bits(seen[0], product(grad_y_, Transpose::kNo, table, Transpose::kNo).to(dtype)))
        << "gradient of x in " << tensor::dtype_name(dtype);
    EXPECT_TRUE(same_bits(seen[1], product(grad_y_, Transpose::kYes, x_, Transpose::kNo)))
        << "gradient of the table, x in " << tensor::dtype_name(dtype);
  }
}

// Values, and gradients of x that add up in float32 where x is that, else are rounded each time.
TEST_P(BFloat16Linear, SeveralMapsHaveTheValuesAndGradientsOfOneByOne) {
  const Tensor other = random_float32({GetParam().depth, GetParam().columns}, 6);
  const PackedWeight copy = packed(weight_), other_copy = packed(other);
  using Pair = std::vector<Variable>;
  const auto each = [&](const std::vector<Variable>& in) -> Pair {
    const LinearMap maps[] = {{{in[1], &copy}, in[3]}, {{in[2], &other_copy}, Variable()}};
    return linear_each(in[0], maps);
  };
  const auto alone = [&](const std::vector<Variable>& in) -> Pair {
    return {linear(in[0], {in[1], &copy}, in[3]), linear(in[0], {in[2], &other_copy}, Variable())};
  };
  for (const DType dtype : kBoth) {
    const std::vector<Tensor> inputs = {x_.to(dtype), weight_, other, bias_};
    for (const size_t which : {0, 1}) {
      EXPECT_TRUE(same_bits(recorded([&](const auto& in) { return each(in)[which]; }, inputs),
                            recorded([&](const auto& in) { return alone(in)[which]; }, inputs)))
          << "map " << which << ", x in " << tensor::dtype_name(dtype);
    }
    const auto seen = gradients([&](const auto& in) { return hand_to_both(each(in)); }, inputs, grad_y_);
    const auto expected = gradients([&](const auto& in) { return hand_to_both(alone(in)); }, inputs, grad_y_);
    for (size_t input = 0; input < inputs.size(); ++input) {
      EXPECT_TRUE(same_bits(seen[input], expected[input]))
          << "gradient " << input << ", x in " << tensor::dtype_name(dtype);
    }
  }
}

TEST_P(BFloat16Linear, WithAnActivationItIsTheTwoOps) {
  const PackedWeight copy = packed(weight_);
  for (const Activation kind : {Activation::kNone, Activation::kRelu, Activation::kGelu, Activation::kSilu,
                                Activation::kGeluTanh, Activation::kReluSquared}) {
    const auto fused = [&](const std::vector<Variable>& in) {
      return linear_activation(in[0], {in[1], &copy}, in[2], kind);
    };
    const auto composed = [&](const std::vector<Variable>& in) {
      return activation(linear(in[0], {in[1], &copy}, in[2]), kind);
    };
    for (const DType dtype : kBoth) {
      const std::vector<Tensor> inputs = {x_.to(dtype), weight_, bias_};
      const auto label = [&] {
        return testing::Message() << "activation " << static_cast<int>(kind) << ", x in " << tensor::dtype_name(dtype);
      };
      const Tensor value = recorded(fused, inputs);
      EXPECT_EQ(value.dtype(), DType::kBFloat16) << label();
      EXPECT_TRUE(same_bits(value, recorded(composed, inputs))) << label();
      const auto seen = gradients(fused, inputs, grad_y_), expected = gradients(composed, inputs, grad_y_);
      for (size_t input = 0; input < inputs.size(); ++input) {
        EXPECT_TRUE(same_bits(seen[input], expected[input])) << "gradient " << input << ", " << label();
      }
    }
  }
}

// Where y is 0 the ReLU lets no gradient through, elsewhere all of it.
TEST_P(BFloat16Linear, ReluPassesTheGradientWhereItLetThrough) {
  const PackedWeight copy = packed(weight_);
  const auto map = [&](const std::vector<Variable>& in) {
    return linear_activation(in[0], {in[1], &copy}, in[2], Activation::kRelu);
  };
  const Tensor y = recorded(map, {x_, weight_, bias_});
  Tensor passed = grad_y_.clone();  // [N, Dout]
  int64_t blocked = 0;
  for (int64_t i = 0; i < y.size(); ++i) {
    const float value = tensor::to_float(y.data<tensor::BFloat16>()[i]);
    ASSERT_GE(value, 0.0F) << "element " << i;
    if (value == 0.0F) {
      passed.data<tensor::BFloat16>()[i] = tensor::to_bfloat16(0.0F);
      ++blocked;
    }
  }
  ASSERT_GT(blocked, 0) << "no element is a case";
  ASSERT_LT(blocked, y.size()) << "no element is a case";
  for (const DType dtype : kBoth) {
    const auto seen = gradients(map, {x_.to(dtype), weight_, bias_}, grad_y_);
    EXPECT_TRUE(same_bits(seen[0], product(passed, Transpose::kNo, weight_, Transpose::kYes).to(dtype)))
        << "gradient of x in " << tensor::dtype_name(dtype);
    EXPECT_TRUE(same_bits(seen[1], product(x_, Transpose::kYes, passed, Transpose::kNo))) << "gradient of the weight";
    EXPECT_TRUE(same_bits(seen[2], sum_of_rows(passed))) << "gradient of the bias";
  }
}

// The companion is given other numbers here, so that what was multiplied can be told.
TEST(BFloat16LinearMaps, MultiplyWhatWasRoundedBefore) {
  const Tensor value = random_float32({33, 64}, 1), companion = random_tensor({33, 64}, DType::kBFloat16, 2);
  const Tensor weight = random_float32({64, 50}, 3), grad_y = random_tensor({33, 50}, DType::kBFloat16, 4);
  const PackedWeight copy = packed(weight), exact = packed(weight, Transpose::kNo, true, Precision::kFloat32);
  const auto with_companion = [&](const Tensor& x) {
    Variable variable(x, true);
    variable.set_rounded(companion);
    return variable;
  };
  const Tensor expected = product(companion, Transpose::kNo, weight, Transpose::kNo).to(DType::kBFloat16);
  const Variable no_bias, w(weight, true);
  Tape tape;
  const TapeScope scope(&tape);
  const Variable x = with_companion(value);
  const LinearMap map{{w, &copy}, no_bias};
  EXPECT_TRUE(same_bits(linear_activation(x, {w, &copy}, no_bias, Activation::kNone).value(), expected));
  EXPECT_TRUE(same_bits(linear_each(x, {&map, 1})[0].value(), expected));
  EXPECT_TRUE(same_bits(linear(x, {w, &exact}, no_bias).value(), linear(Variable(value), w, no_bias).value()))
      << "a float32 weight takes float32";
  const Variable y = linear(x, {w, &copy}, no_bias);
  EXPECT_TRUE(same_bits(y.value(), expected));
  tape.backward_from(y, grad_y);
  EXPECT_TRUE(same_bits(w.grad(), product(companion, Transpose::kYes, grad_y, Transpose::kNo)));
  EXPECT_TRUE(same_bits(x.grad(), product(grad_y, Transpose::kNo, weight, Transpose::kYes)));
}

TEST(BFloat16LinearMaps, OnlyWeightsInBFloat16TakeBFloat16) {
  const Variable x(Tensor::zeros({2, 16}, DType::kBFloat16)), weight(Tensor::zeros({16, 32}));
  const PackedWeight exact = packed(weight.value(), Transpose::kNo, false, Precision::kFloat32);
  const PackedWeight coarse = packed(weight.value());
  const std::string of_x = "linear: x is bfloat16, must be float32";
  EXPECT_EQ(error_of([&] { linear(x, weight, Variable()); }), of_x);
  EXPECT_EQ(error_of([&] { linear(x, {weight, &exact}, Variable()); }), of_x);
  EXPECT_EQ(error_of([&] { linear_activation(x, {weight, &exact}, Variable(), Activation::kRelu); }), of_x);
  const LinearMap maps[] = {{{weight, &coarse}, Variable()}, {{weight, &exact}, Variable()}};
  EXPECT_EQ(error_of([&] { linear_each(x, maps); }), of_x);
  const Variable half_weight(Tensor::zeros({16, 32}, DType::kBFloat16)),
      half_bias(Tensor::zeros({32}, DType::kBFloat16));
  EXPECT_EQ(error_of([&] {
              linear(x, {half_weight, &coarse}, Variable());
            }),
            "linear: weight is bfloat16, must be float32");
  EXPECT_EQ(error_of([&] { linear(x, {weight, &coarse}, half_bias); }), "linear: bias is bfloat16, must be float32");
  EXPECT_EQ(error_of([&] {
              linear(x, {Variable(), &coarse}, Variable());
            }),
            "no error")
      << "inference without a variable";
}

}  // namespace
}  // namespace dragoman::ops
