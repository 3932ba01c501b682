// Attention in bfloat16 on a GPU, or on its emulation, agrees with the CPU in float32.
#include <gtest/gtest.h>

#include "cuda/attention_outcome.h"
#include "kernels/cuda/attention_kernels.h"
#include "kernels/cuda/device_arrays.h"
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

/// The context of a sentence of 150 rows, and the gradients of query, key and value, with blocks of `rows` rows.
std::vector<Tensor> with_tiles_of(int rows, bool causal, int window) {
  constexpr int kRows = 150, kHeads = 2, kWidth = 128;
  const test_support::OnCuda device;
  const auto made = [&](uint64_t seed) {
    const auto on_host = [&] {
      const tensor::HostScope scope;
      return test_support::random_tensor({kRows, kWidth}, DType::kFloat32, seed).to(DType::kBFloat16);
    };
    return tensor::to_current_device(on_host());
  };
  const auto empty = [] { return Tensor::empty({kRows, kWidth}, DType::kBFloat16); };
  const Tensor query = made(1), key = made(2), value = made(3), grad_context = made(4);
  const Tensor context = empty(), query_grad = empty(), key_grad = empty(), value_grad = empty();
  const DeviceArray<int32_t> offsets{std::span<const int32_t>(std::vector<int32_t>{0, kRows})};
  const DeviceArray<float> stats(2 * kHeads * kRows), mean(kHeads * kRows);
  std::vector<SentenceTile> tiles;
  for (int first = 0; first < kRows; first += rows) {
    tiles.push_back({0, first});
  }
  const DeviceArray<SentenceTile> on_device{std::span<const SentenceTile>(tiles)};
  const Tiles all{on_device.data(), static_cast<int64_t>(tiles.size())};
  const TilesOfRows blocks = rows == kLongTile ? TilesOfRows{{}, all} : TilesOfRows{all, {}};
  const Attention a{any_matrix_of(query),
                    any_matrix_of(key),
                    any_matrix_of(value),
                    offsets.data(),
                    offsets.data(),
                    nullptr,
                    kHeads,
                    1,
                    kWidth / kHeads,
                    kWidth / kHeads,
                    causal,
                    window,
                    0.125F,
                    nullptr,
                    0,
                    mask_of(test_support::some_dropout(0.1F)),
                    kRows,
                    stats.data(),
                    stats.data() + kHeads * kRows};
  attention_forward(a, blocks, any_matrix_of(context));
  const AttentionGrads grads{any_matrix_of(context),
                             any_matrix_of(grad_context),
                             any_matrix_of(query_grad),
                             any_matrix_of(key_grad),
                             any_matrix_of(value_grad),
                             mean.data(),
                             nullptr,
                             nullptr,
                             0};
  EXPECT_TRUE(takes_long_tiles(a, any_matrix_of(context)) && takes_long_tiles(a, grads));
  attention_backward(a, blocks, blocks, grads);
  return {tensor::to_host(context), tensor::to_host(query_grad), tensor::to_host(key_grad),
          tensor::to_host(value_grad)};
}

TEST(CudaAttention, LongTilesHaveTheBitsOfOthers) {
  if (!has_device()) {
    GTEST_SKIP() << describe_devices().front();
  }
  for (const auto& [causal, window] : {std::pair(false, 0), std::pair(true, 0), std::pair(true, 50)}) {
    const std::vector<Tensor> expected = with_tiles_of(kAttentionTile, causal, window);
    const std::vector<Tensor> seen = with_tiles_of(kLongTile, causal, window);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(test_support::same_bits(seen[i], expected[i]))
          << "result " << i << ", causal " << causal << ", window " << window;
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
