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

}  // namespace
}  // namespace dragoman::kernels::cuda
