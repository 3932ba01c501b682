// Races of the threads of a block are found by ThreadSanitizer in one order of threads, and if no order shows them.
#include "cuda/faults/fault_cases.h"

extern "C" const char* __tsan_default_options() {  // NOLINT: its name
  return "halt_on_error=1";
}

namespace dragoman::kernels::cuda::faults {
namespace {

TEST(CudaRaceFaultsDeathTest, EndTheProgram) {
  for (const FaultCase& fault : {FaultCase{"no barrier before reading", reverse_blocks},
                                 {"no barrier before writing again", use_shared_memory_again},
                                 {"no barrier of a warp, where no order gives other bits", shift_in_warps},
                                 {"equal values, where no order gives other bits", write_equal_values}}) {
    expect_death_by(fault, "ThreadSanitizer: data race");
  }
}

}  // namespace
}  // namespace dragoman::kernels::cuda::faults
