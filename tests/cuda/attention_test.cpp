// Attention in bfloat16 on a GPU, or on its emulation, agrees with the CPU in float32.
#include <gtest/gtest.h>

#include "cuda/attention_outcome.h"
#include "support/cuda_device.h"

namespace dragoman::kernels::cuda {
namespace {

TEST(CudaAttention, InBfloat16AgreesWithTheCpuInFloat32) {
  if (!has_device()) {
    GTEST_SKIP() << describe_devices().front();
  }
  for (const test_support::RowsCase& test : test_support::bfloat16_cases()) {
    const test_support::RowsOutcome expected = outcome_of(test, DType::kFloat32);
    const test_support::OnCuda device;
    const test_support::RowsOutcome seen = outcome_of(test, DType::kBFloat16);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(test_support::close(seen[i], expected[i], 1e-2)) << test.name << ", result " << i;
    }
  }
}

enum class Projections { kEach, kSeparate };
enum class Use { kAttention, kAttentionAndKeys };

/// Gradients of x, three weights and three biases of an attention over projections of x. Also of the keys alone, if
/// asked: their gradient then has two parts.
std::vector<Tensor> projection_gradients(Projections projections, Use use) {
  using autograd::Variable;
  const auto made = [](const tensor::Shape& shape, uint64_t seed) {
    const auto on_host = [&] {
      const tensor::HostScope scope;
      return test_support::random_tensor(shape, DType::kFloat32, seed);
    };
    return Variable(tensor::to_current_device(on_host()), true);
  };
  const Variable x = made({37, 64}, 1);
  std::vector<Variable> inputs{x};
  std::vector<ops::LinearMap> maps;
  for (uint64_t i = 0; i < 3; ++i) {
    const Variable weight = made({64, 64}, 2 + i), bias = made({64}, 5 + i);
    maps.push_back({ops::Weight(weight, nullptr, Precision::kBFloat16), bias});
    inputs.insert(inputs.end(), {weight, bias});
  }
  autograd::Tape tape;
  const autograd::TapeScope scope(&tape);
  std::vector<Variable> rows;
  if (projections == Projections::kEach) {
    rows = ops::linear_each(x, maps);
  } else {
    for (const ops::LinearMap& map : maps) {
      rows.push_back(ops::linear(x, map.weight, map.bias));
    }
  }
  const Tensor offsets = test_support::offsets_of({20, 0, 17});
  Variable result = ops::attention(rows[0], rows[1], rows[2], {offsets, offsets, {}}, {.n_heads = 2});
  if (use == Use::kAttentionAndKeys) {
    result = ops::attention(result, rows[1], rows[1], {offsets, offsets, {}}, {.n_heads = 2});
  }
  tape.backward_from(result, made({37, 64}, 9).value().to(result.dtype()));
  std::vector<Tensor> gradients;
  for (const Variable& input : inputs) {
    gradients.push_back(tensor::to_host(input.grad()));
  }
  return gradients;
}

TEST(CudaAttention, ProjectionsAsOneProductHaveTheGradientsOfThree) {
  if (!has_device()) {
    GTEST_SKIP() << describe_devices().front();
  }
  const test_support::OnCuda device;
  for (const Use use : {Use::kAttention, Use::kAttentionAndKeys}) {
    const std::vector<Tensor> expected = projection_gradients(Projections::kSeparate, use);
    const std::vector<Tensor> seen = projection_gradients(Projections::kEach, use);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(test_support::close(seen[i], expected[i], 1e-3)) << "input " << i;
    }
  }
}

}  // namespace
}  // namespace dragoman::kernels::cuda
