#pragma once

#include <gtest/gtest.h>

#include "kernels/cuda/cuda_device.h"

namespace dragoman::test_support {

/// Skips its tests where there is neither a GPU nor its emulation.
class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kernels::cuda::has_device()) {
      GTEST_SKIP() << kernels::cuda::describe_devices().front();
    }
  }
};

}  // namespace dragoman::test_support
