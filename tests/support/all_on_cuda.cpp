// Linked into a test program, this makes all its tests run on the first GPU, or on its emulation.
#include <gtest/gtest.h>

#include <optional>

#include "support/cuda_device.h"

namespace dragoman::test_support {
namespace {

class AllOnCuda : public testing::Environment {
 public:
  void SetUp() override {
    if (!kernels::cuda::has_device()) {
      GTEST_SKIP() << kernels::cuda::describe_devices().front();
    }
    device_.emplace();
  }
  void TearDown() override { device_.reset(); }

 private:
  std::optional<OnCuda> device_;
};

const testing::Environment* const kRegistered = testing::AddGlobalTestEnvironment(new AllOnCuda);

}  // namespace
}  // namespace dragoman::test_support
