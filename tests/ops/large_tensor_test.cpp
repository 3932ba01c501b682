// Ops on matrices whose rows lie so far apart that the last ones begin beyond 2^31 elements: what they compute must be
// what they compute on the same numbers close together, bit for bit. Only the pages of the numbers are touched.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/memory.h"
#include "kernels/cpu/simd/vector_math.h"
#include "ops/activation.h"
#include "ops/attention.h"
#include "ops/cross_entropy.h"
#include "ops/dropout.h"
#include "ops/embedding.h"
#include "ops/gemm.h"
#include "ops/layer_norm.h"
#include "ops/linear.h"
#include "ops/matmul.h"
#include "ops/residual.h"
#include "ops/softmax.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using tensor::Shape;
using test_support::Function;
using test_support::gradients;
using test_support::random_tensor;
using test_support::same_bits;

constexpr int64_t kRows = 20;
constexpr int64_t kStride = int64_t{1} << 27;  // elements: row 16 begins at 2^31
constexpr Dropout kSome{.probability = 0.25F, .seed = 5, .step = 6, .site = 7, .first_row = 8};

Tensor far_apart(const Tensor& matrix) {
  Tensor view = Tensor::empty({matrix.dim(0), kStride}).columns(3, 3 + matrix.dim(1));
  view.copy_from(matrix);
  return view;
}

Tensor numbers(const Shape& shape, uint64_t seed) {
  return random_tensor(shape, DType::kFloat32, seed);
}

Tensor row_numbers(int64_t count) {
  std::vector<int32_t> ids;
  for (int64_t row = 0; row < count; ++row) {
    ids.push_back(static_cast<int32_t>((row * 7 + count - 1) % count));
  }
  return Tensor::from(ids, {count});
}

class LargeTensorOps : public testing::Test {
 protected:
  // Systems that promise no more memory than they have may refuse.
  void SetUp() override {
    try {
      Tensor::empty({kRows, kStride});
    } catch (const base::Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  void TearDown() override {
    EXPECT_LT(base::resident_memory(), before_ + (uint64_t{500} << 20)) << "the test is to touch little memory";
  }

  // Values and gradients; vectors stay as they are.
  static void expect_same(const char* name, const Function& function, const std::vector<Tensor>& inputs) {
    const tensor::ArenaScope arena(std::make_shared<tensor::Arena>());
    std::vector<Tensor> far;
    std::vector<Variable> near_variables, far_variables;
    for (const Tensor& input : inputs) {
      far.push_back(input.rank() == 2 && input.dim(0) > 16 ? far_apart(input) : input);
      near_variables.emplace_back(input);
      far_variables.emplace_back(far.back());
    }
    const Tensor expected = function(near_variables).value();
    EXPECT_TRUE(same_bits(function(far_variables).value(), expected)) << name;
    const Tensor weights = numbers(expected.shape(), 99);
    const std::vector<Tensor> expected_gradients = gradients(function, inputs, weights);
    const std::vector<Tensor> seen = gradients(function, far, weights);
    for (size_t index = 0; index < seen.size(); ++index) {
      EXPECT_TRUE(same_bits(seen[index], expected_gradients[index])) << name << ", gradient of input " << index;
    }
  }

  uint64_t before_ = base::resident_memory();
};

TEST_F(LargeTensorOps, Products) {
  const Tensor x = numbers({kRows, 24}, 1), weight = numbers({24, kRows}, 2), bias = numbers({kRows}, 3);
  expect_same("linear", [](const auto& v) { return linear(v[0], v[1], v[2]); }, {x, weight, bias});
  expect_same("matmul", [](const auto& v) { return matmul(v[0], Transpose::kNo, v[1], Transpose::kYes); },
              {x, x.clone()});
  const tensor::ArenaScope arena(std::make_shared<tensor::Arena>());
  Tensor near = numbers({kRows, kRows}, 4), far = far_apart(near);
  gemm_accumulate(x, Transpose::kNo, weight, Transpose::kNo, near);
  gemm_accumulate(far_apart(x), Transpose::kNo, far_apart(weight), Transpose::kNo, far);
  EXPECT_TRUE(same_bits(far, near)) << "a result far apart";
}

TEST_F(LargeTensorOps, RowByRow) {
  const Tensor x = numbers({kRows, 24}, 1), y = numbers({kRows, 24}, 2);
  const Tensor gain = numbers({24}, 3), bias = numbers({24}, 4);
  expect_same("dropout", [](const auto& v) { return dropout(v[0], kSome); }, {x});
  expect_same("softmax", [](const auto& v) { return softmax(v[0]); }, {x});
  for (const Activation kind : {Activation::kRelu, Activation::kGelu}) {
    expect_same("activation", [&](const auto& v) { return activation_dropout(v[0], kind, kSome); }, {x});
  }
  expect_same("layer_norm", [](const auto& v) { return layer_norm(v[0], v[1], v[2], 1e-5F); }, {x, gain, bias});
  expect_same("residual_dropout", [](const auto& v) { return residual_dropout(v[0], v[1], kSome); }, {x, y});
  expect_same("residual_dropout_layer_norm",
              [](const auto& v) { return residual_dropout_layer_norm(v[0], v[1], v[2], v[3], 1e-5F, kSome); },
              {x, y, gain, bias});
}

TEST_F(LargeTensorOps, RowsByNumber) {
  const Tensor table = numbers({kRows, 24}, 1), x = numbers({kRows, 24}, 2), ids = row_numbers(kRows);
  expect_same("embedding", [&](const auto& v) { return embedding(v[0], ids, 2.0F); }, {table});
  expect_same("select_rows", [&](const auto& v) { return select_rows(v[0], ids); }, {table});
  expect_same("add_positions", [&](const auto& v) { return add_positions(v[0], v[1], ids); }, {x, table});
}

TEST_F(LargeTensorOps, Attention) {
  const Tensor offsets = Tensor::from(std::vector<int32_t>{0, 3, 18, kRows}, {4});
  const AttentionOptions options{.n_heads = 2, .causal = true, .dropout = kSome};
  expect_same("attention",
              [&](const auto& v) {
                return attention(v[0], v[1], v[2], {offsets, offsets, {}}, options);
              },
              {numbers({kRows, 16}, 1), numbers({kRows, 16}, 2), numbers({kRows, 16}, 3)});
}

// Every element is read; pages that nothing wrote stay one page of zeros.
TEST_F(LargeTensorOps, SumsOverMoreThanTwoToThe31Elements) {
  const tensor::ArenaScope arena(std::make_shared<tensor::Arena>());
  Tensor flat = Tensor::empty({(int64_t{1} << 31) + 1000});
  flat.data<float>()[0] = 2;
  flat.data<float>()[flat.size() - 1] = 3;
  EXPECT_EQ(kernels::sum_of_squares(flat.span<float>()), 13.0);
}

}  // namespace
}  // namespace dragoman::ops
