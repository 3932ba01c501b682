// Overruns and the use of released memory are found by AddressSanitizer.
#include "cuda/faults/fault_cases.h"
#include "kernels/cuda/cuda_allocator.h"

namespace dragoman::kernels::cuda::faults {
namespace {

TEST(CudaMemoryFaultsDeathTest, OverrunsEndTheProgram) {
  expect_death_by({"dynamic shared memory", copy_by_dynamic_memory}, "AddressSanitizer: heap-buffer-overflow");
  expect_death_by({"shared array", copy_by_shared_array},
                  "index 63 out of bounds for type|AddressSanitizer: global-buffer-overflow");
  expect_death_by({"memory of the device", copy_too_many}, "AddressSanitizer: use-after-poison");
}

TEST(CudaMemoryFaultsDeathTest, ReleasedMemoryEndsTheProgram) {
  CudaAllocator memory;
  constexpr size_t kBytes = kCount * sizeof(float);
  auto* const x = static_cast<float*>(memory.allocate(kBytes));
  auto* const y = static_cast<float*>(memory.allocate(kBytes));
  copy_all(Version::kRight, x, y);
  memory.release(x);
  EXPECT_DEATH(copy_all(Version::kRight, x, y), "AddressSanitizer: use-after-poison");
  memory.release(y);
}

}  // namespace
}  // namespace dragoman::kernels::cuda::faults
