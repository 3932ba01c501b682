#pragma once

#include <memory>
#include <string>

#include "kernels/cuda/products.h"

namespace dragoman::kernels::cuda {

/// The products of NVIDIA's cuBLASLt, which is loaded when this is made. The algorithm of a product is the first one
/// that the library's heuristic names for its shape, so equal products have equal bits. Sums are never added by
/// atomics. For products whose rows must not depend on the number of rows (Product::rows_alike), an algorithm is tried
/// with random rows at first; if a row has other bits in another number of rows, the shape counts as without a kernel.
/// Threads: any.
class CublasLt {
 public:
  /// Throws: Error, "cuda: libcublasLt.so.13 cannot be loaded: ...; install CUDA 13 or the Python package
  /// nvidia-cublas, or put the folder of the library into LD_LIBRARY_PATH".
  CublasLt();
  ~CublasLt();

  /// Computes a product whose operands are both float32 or both bfloat16. The bias has the type of C. Returns: false,
  /// and does nothing, if the library has no kernel for this shape or alignment.
  [[nodiscard]] bool multiply(const Product& product);

  /// Returns: the version of the library, as in "13.1.0".
  [[nodiscard]] static std::string version();

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace dragoman::kernels::cuda
