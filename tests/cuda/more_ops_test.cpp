// Further ops on a GPU, or on its emulation, agree with the CPU, or are refused by name.
#include <gmock/gmock.h>

#include "base/error.h"
#include "cuda/more_op_cases.h"
#include "support/cuda_device.h"

namespace dragoman::ops {
namespace {

using test_support::OpCase;
using test_support::OpOutcome;

// Empty if the op ran.
std::string refusal_of(const OpCase& test, OpOutcome& outcome) {
  const test_support::OnCuda device;
  try {
    outcome = test_support::outcome_of(test);
    return "";
  } catch (const base::Error& error) {
    return error.what();
  }
}

TEST(CudaMoreOps, AgreeWithTheCpuOrAreRefusedByName) {
  if (!kernels::cuda::has_device()) {
    GTEST_SKIP() << kernels::cuda::describe_devices().front();
  }
  for (const auto& group :
       {test_support::shape_cases(), test_support::norm_and_scan_cases(), test_support::recurrent_cases()}) {
    for (const OpCase& test : group) {
      OpOutcome seen;
      const std::string refusal = refusal_of(test, seen);
      if (!refusal.empty()) {
        EXPECT_THAT(refusal, testing::MatchesRegex("cuda: [a-z_]+ does not exist yet, .*; use --device cpu"))
            << test.name;
        continue;
      }
      const OpOutcome expected = test_support::outcome_of(test);
      EXPECT_TRUE(test_support::close(seen.value, expected.value, 1e-5)) << test.name;
      for (size_t input = 0; input < expected.gradients.size(); ++input) {
        EXPECT_TRUE(test_support::close(seen.gradients[input], expected.gradients[input], 1e-5))
            << test.name << ", gradient of input " << input;
      }
    }
  }
}

}  // namespace
}  // namespace dragoman::ops
