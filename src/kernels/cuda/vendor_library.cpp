#include "kernels/cuda/vendor_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <system_error>

namespace dragoman::kernels::cuda {
namespace {

namespace fs = std::filesystem;

// The folders of a folder whose names begin like this; none if it cannot be read.
std::vector<fs::path> folders_in(const fs::path& folder, const std::string& begin = "") {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->is_directory(error) && entry->path().filename().string().starts_with(begin)) {
      found.push_back(entry->path());
    }
  }
  std::ranges::sort(found);
  return found;
}

void* open(const std::string& name, std::string& problem) {
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const said = dlerror();
    problem = said == nullptr ? name + " cannot be loaded" : said;
  }
  return handle;
}

}  // namespace

std::vector<fs::path> package_folders(const fs::path& file) {
  const fs::path prefix = file.parent_path().parent_path();
  std::vector<fs::path> packages = {prefix};
  for (const fs::path& python : folders_in(prefix / "lib", "python3")) {
    packages.push_back(python / "site-packages");
  }
  std::vector<fs::path> folders;
  for (const fs::path& site : packages) {
    for (const fs::path& package : folders_in(site / "nvidia")) {
      std::error_code error;
      if (fs::is_directory(package / "lib", error)) {
        folders.push_back(package / "lib");
      }
    }
  }
  return folders;
}

fs::path own_file() {
  Dl_info facts{};
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&own_file), &facts) == 0 || facts.dli_fname == nullptr) {
    return {};
  }
  const fs::path file = facts.dli_fname;  // of a program started by name: the name alone
  return file.has_parent_path() ? fs::absolute(file, error) : fs::read_symlink("/proc/self/exe", error);
}

VendorLibrary load_vendor_library(const std::string& name, const std::vector<fs::path>& folders) {
  VendorLibrary library;
  library.handle = open(name, library.problem);
  for (auto folder = folders.begin(); library.handle == nullptr && folder != folders.end(); ++folder) {
    std::error_code error;
    if (fs::exists(*folder / name, error)) {
      library.handle = open((*folder / name).string(), library.problem);
    }
  }
  if (library.handle != nullptr) {
    library.problem.clear();
  }
  return library;
}

VendorLibrary load_vendor_library(const std::string& name) {
  return load_vendor_library(name, package_folders(own_file()));
}

}  // namespace dragoman::kernels::cuda
