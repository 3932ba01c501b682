// The kernels of decoding steps on a GPU, or on its emulation, agree with the CPU.
#include <gmock/gmock.h>

#include "cuda/op_cases.h"
#include "kernels/backends/backend_of.h"
#include "kernels/cpu/output/best_logits.h"
#include "ops/gemm.h"
#include "ops/relative_positions.h"
#include "support/cuda_device.h"
#include "support/cuda_test.h"
#include "support/error_of.h"

namespace dragoman::kernels {
namespace {

using test_support::close;
using test_support::OnCuda;
using test_support::random_tensor;

class CudaDecoding : public test_support::CudaTest {};

Tensor on_device(const tensor::Shape& shape, uint64_t seed) {
  const auto on_host = [&] {
    const tensor::HostScope scope;
    return random_tensor(shape, tensor::DType::kFloat32, seed);
  };
  return tensor::to_current_device(on_host());
}

/// What a decoding step gives.
struct Step {
  Tensor context, mean_weights;
};

constexpr int kHeads = 2;

/// Whether the products of a step have relative positions added.
enum class Positions { kNone, kRelative };

// Writes 50 rows to a cache and lets four rows attend to histories in it, of which two share a beginning.
Step step_over_cache(DType dtype, Positions positions = Positions::kNone) {
  constexpr int64_t kWidth = 24, kRows = 50;
  const Tensor keys = on_device({kRows, kWidth}, 1), values = on_device({kRows, kWidth}, 2);
  const Tensor query = on_device({4, kWidth}, 3);
  Tensor cache = Tensor::zeros({kRows, 2 * kWidth}, dtype);
  const Backend& backend = backend_of(query);
  std::vector<int32_t> numbers(kRows);
  for (int32_t row = 0; row < kRows; ++row) {
    numbers[static_cast<size_t>(row)] = row * 7 % static_cast<int32_t>(kRows);
  }
  backend.store_cached_rows({keys, values, tensor::host_tensor(numbers), kHeads, cache});
  const auto* first = static_cast<const char*>(cache.device_data());
  const void* of_values = first + static_cast<size_t>(kWidth) * tensor::dtype_bytes(dtype);
  const std::vector<int32_t> history{3, 1, 4, 41, 5, 9, 2, 6};
  std::vector<StepKeys> rows;
  for (const int64_t length : {8, 5, 1}) {
    rows.push_back({first, of_values, history.data(), 2 * kWidth, length, dtype});
  }
  rows.push_back({first, of_values, nullptr, 2 * kWidth, 45, dtype});
  const Tensor bias = on_device({kHeads, 48}, 4);
  for (StepKeys& row : rows) {
    if (positions == Positions::kRelative) {
      ops::add_step_bias(bias, row);
    }
  }
  Tensor context = Tensor::empty({4, kWidth}), mean_weights = Tensor::empty({4, 45});
  backend.attention_step(query, rows, kHeads, context, &mean_weights);
  return {tensor::to_host(context), tensor::to_host(mean_weights)};
}

TEST_F(CudaDecoding, StepsOverACacheAgree) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    const Step expected = step_over_cache(dtype);
    const OnCuda device;
    const Step seen = step_over_cache(dtype);
    EXPECT_TRUE(close(seen.context, expected.context, 1e-5)) << tensor::dtype_name(dtype);
    EXPECT_TRUE(close(seen.mean_weights, expected.mean_weights, 1e-5)) << tensor::dtype_name(dtype);
  }
}

TEST_F(CudaDecoding, StepsWithRelativePositionsAgree) {
  const Step expected = step_over_cache(DType::kFloat32, Positions::kRelative);
  EXPECT_FALSE(close(step_over_cache(DType::kFloat32).context, expected.context, 1e-2));
  const OnCuda device;
  const Step seen = step_over_cache(DType::kFloat32, Positions::kRelative);
  EXPECT_TRUE(close(seen.context, expected.context, 1e-5));
  EXPECT_TRUE(close(seen.mean_weights, expected.mean_weights, 1e-5));
}

Step step_over_sources() {
  const Tensor keys = on_device({45, 24}, 1), values = on_device({45, 24}, 2), query = on_device({5, 24}, 3);
  const Backend& backend = backend_of(query);
  const SharedKeys first = backend.pack_shared_keys(keys.rows(0, 40), values.rows(0, 40), kHeads, DType::kFloat32);
  const SharedKeys second = backend.pack_shared_keys(keys.rows(40, 45), values.rows(40, 45), kHeads, DType::kFloat32);
  const std::vector<SharedRows> groups{{&first, 3}, {&second, 2}};
  Tensor context = Tensor::empty({5, 24}), mean_weights = Tensor::empty({5, 40});
  backend.attention_shared(query, groups, kHeads, context, &mean_weights);
  return {tensor::to_host(context), tensor::to_host(mean_weights)};
}

TEST_F(CudaDecoding, StepsOverSourcesAgree) {
  const Step expected = step_over_sources();
  const OnCuda device;
  const Step seen = step_over_sources();
  EXPECT_TRUE(close(seen.context, expected.context, 1e-5));
  EXPECT_TRUE(close(seen.mean_weights, expected.mean_weights, 1e-5));
}

TEST_F(CudaDecoding, TheBestLogitsAreThoseOfTheCpuAndEqualOnesStandInOrder) {
  Tensor logits = random_tensor({3, 700}, DType::kFloat32, 5);
  for (const int64_t id : {17, 400, 650}) {
    logits.data<float>()[700 + id] = 2.0F;
  }
  BestLogits expected, seen;
  backend_of(logits).best_of_rows(logits, 9, expected);
  const OnCuda device;
  const Tensor copy = tensor::to_current_device(logits);
  backend_of(copy).best_of_rows(copy, 9, seen);
  for (size_t row = 0; row < 3; ++row) {
    EXPECT_THAT(seen.row(row).ids, testing::ElementsAreArray(expected.row(row).ids));
    EXPECT_THAT(seen.row(row).values, testing::ElementsAreArray(expected.row(row).values));
    EXPECT_NEAR(seen.row(row).log_sum_exp, expected.row(row).log_sum_exp, 1e-5);
  }
}

TEST_F(CudaDecoding, ARowOfAProductHasTheSameBitsAmongAnyNumberOfRows) {
  const OnCuda device;
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    constexpr int64_t kRows = 201, kDepth = 128, kColumns = 64;
    const Tensor x = on_device({kRows, kDepth}, 1).to(dtype), weight = on_device({kDepth, kColumns}, 2).to(dtype);
    const Tensor bias = on_device({kColumns}, 3);
    const Precision precision = dtype == DType::kFloat32 ? Precision::kFloat32 : Precision::kBFloat16;
    const auto first_rows = [&](int64_t rows) {
      Tensor y = Tensor::empty({rows, kColumns});
      ops::gemm_bias(x.rows(0, rows), Transpose::kNo, weight, Transpose::kNo, bias, y, precision);
      return y.rows(0, 1).to_vector<float>();
    };
    const std::vector<float> expected = first_rows(kRows);
    for (const int64_t rows : {1, 7, 64, 130}) {
      EXPECT_EQ(first_rows(rows), expected) << rows << " rows of " << tensor::dtype_name(dtype);
    }
  }
}

TEST_F(CudaDecoding, WhatIsNotThereYetIsNamed) {
  const OnCuda device;
  const Tensor keys = Tensor::zeros({2, 8});
  EXPECT_EQ(test_support::error_of([&] { (void)backend_of(keys).pack_shared_keys(keys, keys, 2, DType::kInt8); }),
            "cuda: pack_shared_keys does not exist for bfloat16 or int8 keys yet; use float32");
}

}  // namespace
}  // namespace dragoman::kernels
