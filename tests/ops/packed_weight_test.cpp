#include "ops/packed_weight.h"

#include <gmock/gmock.h>

#include "ops/gemm.h"
#include "ops/linear.h"
#include "ops/linear_cross_entropy.h"
#include "support/error_of.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using test_support::close;
using test_support::gradients;
using test_support::random_tensor;
using test_support::same_bits;

PackedWeight packed(const Tensor& weight, const PackedWeightLayout& layout) {
  PackedWeight copy(weight.shape(), layout);
  for (int64_t panel = copy.panels(); panel-- > 0;) {
    copy.pack(weight, panel, panel + 1);
  }
  return copy;
}

Tensor rounded(const Tensor& x) {
  return x.to(DType::kBFloat16).to(DType::kFloat64);
}

// Two uses of one weight, so that gradients are also added.
Variable twice(const Variable& x, const Weight& weight, const Variable& bias) {
  return linear(linear(x, weight, bias), weight, bias);
}

TEST(PackedWeight, Float32CopiesGiveTheBitsOfNone) {
  const std::vector<Tensor> inputs = {random_tensor({21, 70}, DType::kFloat32, 1),
                                      random_tensor({70, 70}, DType::kFloat32, 2),
                                      random_tensor({70}, DType::kFloat32, 3)};
  const Tensor weights = random_tensor({21, 70}, DType::kFloat32, 4);
  const PackedWeight copy = packed(inputs[1], {Precision::kFloat32, Transpose::kNo, true});
  const auto with = [&](const PackedWeight* used) {
    return [used](const std::vector<Variable>& in) { return twice(in[0], {in[1], used}, in[2]); };
  };
  const Tensor plain = with(nullptr)({Variable(inputs[0]), Variable(inputs[1]), Variable(inputs[2])}).value();
  const Tensor seen = with(&copy)({Variable(inputs[0]), Variable(inputs[1]), Variable(inputs[2])}).value();
  EXPECT_TRUE(same_bits(seen, plain));
  const auto expected_gradients = gradients(with(nullptr), inputs, weights);
  const auto seen_gradients = gradients(with(&copy), inputs, weights);
  for (size_t which = 0; which < inputs.size(); ++which) {
    EXPECT_TRUE(same_bits(seen_gradients[which], expected_gradients[which])) << "gradient " << which;
  }
}

// What is recorded comes out in bfloat16, and so does its gradient; without a tape it is float32.
TEST(PackedWeight, BFloat16ProductsMultiplyRoundedOperands) {
  for (const int64_t n : {1, 8, 33, 301}) {
    const Tensor x = random_tensor({n, 65}, DType::kFloat32, 1), weight = random_tensor({65, 50}, DType::kFloat32, 2);
    const Tensor bias = random_tensor({50}, DType::kFloat32, 3), grad_y = random_tensor({n, 50}, DType::kFloat32, 4);
    const PackedWeight copy = packed(weight, {Precision::kBFloat16, Transpose::kNo, true});
    const auto function = [&](const std::vector<Variable>& in) { return linear(in[0], {in[1], &copy}, in[2]); };
    const Tensor y = function({Variable(x), Variable(weight), Variable(bias)}).value();
    Tensor expected = Tensor::empty({n, 50}, DType::kFloat64);
    gemm_bias(rounded(x), Transpose::kNo, rounded(weight), Transpose::kNo, bias.to(DType::kFloat64), expected);
    EXPECT_TRUE(close(y, expected, 2e-6)) << n << " rows";
    const auto seen = gradients(function, {x, weight, bias}, grad_y.to(DType::kBFloat16));
    Tensor grad_x = Tensor::empty({n, 65}, DType::kFloat64), grad_weight = Tensor::empty({65, 50}, DType::kFloat64);
    gemm(rounded(grad_y), Transpose::kNo, rounded(weight), Transpose::kYes, grad_x);
    gemm(rounded(x), Transpose::kYes, rounded(grad_y), Transpose::kNo, grad_weight);
    EXPECT_TRUE(close(seen[0], grad_x, 2e-6)) << "gradient of x, " << n << " rows";
    EXPECT_TRUE(close(seen[1], grad_weight, 2e-6)) << "gradient of the weight, " << n << " rows";
  }
}

TEST(PackedWeight, ALossUsesTheCopyOfATransposedWeight) {
  const Tensor targets = Tensor::from(std::vector<int32_t>{0, 5, 36, 7, 7, 1}, {6});
  const Tensor hidden = random_tensor({6, 20}, DType::kFloat32, 1),
               weight = random_tensor({37, 20}, DType::kFloat32, 2);
  const auto run = [&](const Tensor& x, const Tensor& w, const PackedWeight* copy) {
    return gradients(
        [&](const std::vector<Variable>& in) {
          return linear_cross_entropy(in[0], {in[1], copy}, {}, targets, {0.1F, 1.0}).loss;
        },
        {x, w}, Tensor::full({}, 1.0, x.dtype()));
  };
  const PackedWeight exact = packed(weight, {Precision::kFloat32, Transpose::kYes, true});
  const PackedWeight coarse = packed(weight, {Precision::kBFloat16, Transpose::kYes, true});
  const auto plain = run(hidden, weight, nullptr), same = run(hidden, weight, &exact);
  EXPECT_TRUE(same_bits(same[0], plain[0]));
  EXPECT_TRUE(same_bits(same[1], plain[1]));
  const auto near = run(hidden, weight, &coarse);
  EXPECT_TRUE(close(near[0], plain[0], 0.02)) << "gradient of hidden";
  EXPECT_TRUE(close(near[1], plain[1], 0.02)) << "gradient of the weight";
  EXPECT_FALSE(close(near[1], plain[1], 1e-5)) << "bfloat16 was not used";
}

TEST(PackedWeight, NamesWhatIsNoMatrix) {
  EXPECT_EQ(test_support::error_of([] { PackedWeight({3}, {}); }),
            "packed_weight: the weight is [3], must be a matrix");
}

}  // namespace
}  // namespace dragoman::ops
