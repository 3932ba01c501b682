#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dragoman::kernels::cuda {

// NVIDIA's libraries that are loaded while the program runs: cuBLASLt and NCCL.

/// A library, or why there is none.
struct VendorLibrary {
  void* handle = nullptr;  ///< of dlopen; null if the library cannot be loaded
  std::string problem;     ///< what the dynamic linker says; empty if the library is there
};

/// Returns: the folders nvidia/*/lib of Python's packages of NVIDIA, sorted, for what was loaded from `file`: of the
/// module site-packages/dragoman/_dragoman.so those of its site-packages; of the program PREFIX/bin/dragoman those of
/// PREFIX/lib/python3*/site-packages. Packages of CUDA 13 have nvidia/cu13/lib and nvidia/nccl/lib.
[[nodiscard]] std::vector<std::filesystem::path> package_folders(const std::filesystem::path& file);

/// Returns: the file that this code was loaded from: the program or a module.
[[nodiscard]] std::filesystem::path own_file();

/// Loads a library by name: the one in this process, or that of the dynamic linker (LD_LIBRARY_PATH, the system);
/// otherwise the first in `folders`.
[[nodiscard]] VendorLibrary load_vendor_library(const std::string& name,
                                                const std::vector<std::filesystem::path>& folders);

/// The same in the folders of Python's packages beside this code.
[[nodiscard]] VendorLibrary load_vendor_library(const std::string& name);

}  // namespace dragoman::kernels::cuda
