// Further ops on a GPU, or on its emulation, agree with the CPU.
#include "cuda/more_op_cases.h"
#include "support/cuda_test.h"

namespace dragoman::ops {
namespace {

class CudaMoreOps : public test_support::CudaTest {};

TEST_F(CudaMoreOps, AgreeWithTheCpu) {
  for (const test_support::OpCase& test : test_support::more_cases()) {
    test_support::expect_agreement(test, 1e-5);
  }
}

}  // namespace
}  // namespace dragoman::ops
