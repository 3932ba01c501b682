// Every op on a GPU, or on its emulation, agrees with the CPU: values and gradients.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "cuda/op_cases.h"
#include "kernels/backends/backend_of.h"
#include "ops/gemm.h"
#include "support/cuda_device.h"
#include "support/cuda_test.h"
#include "support/error_of.h"

namespace dragoman::ops {
namespace {

using test_support::close;
using test_support::OnCuda;
using test_support::OpCase;
using test_support::OpOutcome;
using test_support::random_tensor;
using test_support::same_bits;

class CudaOps : public test_support::CudaTest {};

TEST_F(CudaOps, AgreeWithTheCpuInFloat32) {
  for (const OpCase& test : test_support::all_cases()) {
    test_support::expect_agreement(test, 1e-5);
  }
}

TEST_F(CudaOps, ProductsInBfloat16AreThoseOfRoundedOperands) {
  const Tensor x = random_tensor({33, 40}, DType::kFloat32, 1), weight = random_tensor({40, 50}, DType::kFloat32, 2);
  const Tensor bias = random_tensor({50}, DType::kFloat32, 3);
  Tensor expected = Tensor::empty({33, 50});
  gemm_bias(test_support::rounded(x), Transpose::kNo, test_support::rounded(weight), Transpose::kNo, bias, expected);
  const OnCuda device;
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    Tensor seen = Tensor::empty({33, 50}, dtype);
    gemm_bias(tensor::to_current_device(x), Transpose::kNo, tensor::to_current_device(weight), Transpose::kNo,
              tensor::to_current_device(bias), seen, Precision::kBFloat16);
    EXPECT_TRUE(close(tensor::to_host(seen), expected, dtype == DType::kFloat32 ? 1e-6 : 1e-2));
  }
}

TEST_F(CudaOps, DropTheElementsThatTheCpuDrops) {
  const OpCase elements{"dropout", {{13, 43}}, [](const test_support::Variables& in) {
                          return dropout(in[0], test_support::some_dropout());
                        }};
  const OpCase rows{"row_dropout", {{40, 9}}, [](const test_support::Variables& in) {
                      return row_dropout(in[0], test_support::some_dropout());
                    }};
  for (const OpCase& test : {elements, rows}) {
    const OpOutcome expected = test_support::outcome_of(test);
    const OnCuda device;
    const OpOutcome seen = test_support::outcome_of(test);
    EXPECT_TRUE(same_bits(seen.value, expected.value)) << test.name;
    EXPECT_TRUE(same_bits(seen.gradients[0], expected.gradients[0])) << test.name;
  }
}

TEST_F(CudaOps, SumsAndUpdatesAgreeWithTheCpu) {
  const int64_t size = 70'001;
  const auto numbers = [&](uint64_t seed) { return random_tensor({size}, DType::kFloat32, seed); };
  const Tensor grads = numbers(1), start = numbers(2);
  const auto update = [&](double& squares) {
    Tensor weights = tensor::to_current_device(start).clone(), moment1 = Tensor::zeros({size});
    Tensor moment2 = Tensor::zeros({size}), average = tensor::to_current_device(start).clone();
    const Tensor gradients = tensor::to_current_device(grads);
    const kernels::Backend& backend = kernels::backend_of(weights);
    squares = backend.sum_of_squares(gradients);
    for (int64_t step = 1; step <= 3; ++step) {
      backend.adam_update(weights, gradients, moment1, moment2,
                          {.learning_rate = 0.01, .weight_decay = 0.1, .step = step});
      backend.ema_update(average, weights, 0.9);
    }
    return std::pair(tensor::to_host(weights), tensor::to_host(average));
  };
  double expected_squares = 0, squares = 0;
  const auto expected = update(expected_squares);
  const OnCuda device;
  const auto seen = update(squares);
  EXPECT_NEAR(squares, expected_squares, 1e-9 * expected_squares);
  EXPECT_TRUE(close(seen.first, expected.first, 1e-6));
  EXPECT_TRUE(close(seen.second, expected.second, 1e-6));
}

TEST_F(CudaOps, GradientsAreClippedAsOnTheCpu) {
  const int64_t size = 3001;
  const Tensor grads = random_tensor({size}, DType::kFloat32, 1), start = random_tensor({size}, DType::kFloat32, 2);
  const auto weights_after = [&](double clip_norm, float first_gradient, std::vector<double>& factors) {
    Tensor gradients = tensor::to_current_device(grads).clone();
    tensor::HostEdit<float>(gradients).span()[0] = first_gradient;
    Tensor weights = tensor::to_current_device(start).clone(), moment1 = Tensor::zeros({size});
    Tensor moment2 = Tensor::zeros({size}), clipping = Tensor::empty({2}, DType::kFloat64);
    const kernels::Backend& backend = kernels::backend_of(weights);
    backend.clip_factors(gradients, clip_norm, clipping);
    backend.adam_update(weights, gradients, moment1, moment2, {.learning_rate = 0.01, .clipping = &clipping});
    factors = clipping.to_vector<double>();
    return tensor::to_host(weights);
  };
  for (const double clip_norm : {0.0, 1.0, 1e9}) {
    std::vector<double> expected_factors, factors;
    const Tensor expected = weights_after(clip_norm, 3.0F, expected_factors);
    const OnCuda device;
    EXPECT_TRUE(close(weights_after(clip_norm, 3.0F, factors), expected, 1e-6)) << clip_norm;
    EXPECT_NEAR(factors[0], expected_factors[0], 1e-9);
    EXPECT_NEAR(factors[1], expected_factors[1], 1e-9 * expected_factors[1]);
  }
  const OnCuda device;
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<double> factors;
    EXPECT_EQ(weights_after(1.0, bad, factors).to_vector<float>(), start.to_vector<float>());
    EXPECT_TRUE(std::isnan(factors[0]) && !std::isfinite(factors[1]));
  }
}

TEST_F(CudaOps, FindWhatIsNotFinite) {
  const OnCuda device;
  std::vector<float> values(5000, 1.0F);
  const auto all_finite = [&] {
    const Tensor x = Tensor::from(values, {5000});
    return kernels::backend_of(x).all_finite(x);
  };
  EXPECT_TRUE(all_finite());
  values[4321] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(all_finite());
  values[4321] = -std::numeric_limits<float>::infinity();
  EXPECT_FALSE(all_finite());
}

TEST_F(CudaOps, TensorsOfAnySizeAreFilled) {
  const OnCuda device;
  for (const int64_t rows : {0, 1, 37, 128, 129, 1000}) {
    for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
      const Tensor whole = Tensor::full({rows, 32}, 2.0, dtype);
      whole.columns(3, 20).fill(-1.0);
      const std::vector<float> seen = tensor::to_host(whole).to(DType::kFloat32).to_vector<float>();
      for (size_t i = 0; i < seen.size(); ++i) {
        ASSERT_EQ(seen[i], i % 32 >= 3 && i % 32 < 20 ? -1.0F : 2.0F) << rows << " rows, element " << i;
      }
    }
  }
}

TEST_F(CudaOps, WeightsOfAttentionAgreeWithTheCpu) {
  const Tensor query = random_tensor({40, 16}, DType::kFloat32, 1), key = random_tensor({40, 16}, DType::kFloat32, 2);
  const Tensor bias = random_tensor({8, 2}, DType::kFloat32, 3);
  const AttentionBounds bounds{test_support::offsets_of({40}), test_support::offsets_of({40}), {}};
  const auto agree = [&](const AttentionOptions& options, const Tensor& key_rows, bool biased) {
    const auto weights = [&] {
      RelativeBias positions;
      if (biased) {
        positions = {autograd::Variable(tensor::to_current_device(bias)), {8, 20, !options.causal}};
      }
      return attention_weights(tensor::to_current_device(query), tensor::to_current_device(key_rows), bounds, options,
                               positions);
    };
    const Tensor expected = weights();
    const OnCuda device;
    EXPECT_TRUE(close(tensor::to_host(weights()), expected, 1e-5));
  };
  agree({.n_heads = 2}, key, false);
  agree({.n_heads = 2, .causal = true}, key, false);
  agree({.n_heads = 2, .causal = true, .n_kv_heads = 1, .window = 7}, random_tensor({40, 8}, DType::kFloat32, 2),
        false);
  agree({.n_heads = 2, .scale = 1.0F}, key, true);
}

TEST_F(CudaOps, AWidthThatNoKernelHasIsNamed) {
  const OnCuda device;
  const OpCase test = test_support::attention_case("too wide", {2}, {2}, {.n_heads = 1}, 160, 160);
  EXPECT_THAT(test_support::error_of([&] { test_support::outcome_of(test); }),
              "attention: heads of 160 columns, must be at most 128 on cuda; take more heads");
}

}  // namespace
}  // namespace dragoman::ops
