#include "kernels/cuda/cublas_lt.h"

namespace dragoman::kernels::cuda {

// The emulation has no library: every product takes the plain kernel.
struct CublasLt::Library {};

CublasLt::CublasLt() = default;
CublasLt::~CublasLt() = default;

bool CublasLt::multiply(const Product&) {
  return false;
}

std::string CublasLt::version() {
  return "none";
}

}  // namespace dragoman::kernels::cuda
