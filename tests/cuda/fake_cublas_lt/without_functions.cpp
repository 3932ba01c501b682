// A cuBLASLt of which only the version is left.
#include <cstddef>

extern "C" size_t cublasLtGetVersion();  // NOLINT: its name

size_t cublasLtGetVersion() {
  return 130100;
}
