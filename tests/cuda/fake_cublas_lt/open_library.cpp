// Opens cuBLASLt and prints its version, or the reason why it cannot be used, with status 1.
#include <cstdio>

#include "base/error.h"
#include "kernels/cuda/cublas_lt.h"

int main() {
  try {
    const dragoman::kernels::cuda::CublasLt library;
    std::puts(dragoman::kernels::cuda::CublasLt::version().c_str());
    return 0;
  } catch (const dragoman::base::Error& error) {
    std::fputs(error.what(), stderr);
    return 1;
  }
}
