// NVIDIA's libraries are found where the dynamic linker looks, and in Python's packages beside the module or the
// program.
#include "kernels/cuda/vendor_library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include "support/temporary_folder.h"

namespace dragoman::kernels::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "libdragoman_packaged.so.7";

class VendorLibraries : public testing::Test {
 protected:
  // Makes the folder of a package, with the library if it is to have it.
  fs::path make_package(const std::string& name) const {
    fs::create_directories(folder_.path() / name);
    return folder_.path() / name;
  }
  fs::path make_package_with_library(const std::string& name) const {
    fs::copy_file(DRAGOMAN_PACKAGED_LIBRARY, make_package(name) / kName);
    return folder_.path() / name;
  }

  test_support::TemporaryFolder folder_;
};

TEST_F(VendorLibraries, PackagesStandBesideTheModuleAndBelowTheProgram) {
  const fs::path nccl = make_package("lib/python3.11/site-packages/nvidia/nccl/lib");
  const fs::path cu13 = make_package("lib/python3.11/site-packages/nvidia/cu13/lib");
  const fs::path other = make_package("lib/python3.12/site-packages/nvidia/cu13/lib");
  make_package("lib/python3.11/site-packages/nvidia/cudnn/include");
  make_package("lib/python2.7/site-packages/nvidia/cu13/lib");
  EXPECT_THAT(package_folders(folder_.path() / "lib/python3.11/site-packages/dragoman/_dragoman.abi3.so"),
              testing::ElementsAre(cu13, nccl));
  EXPECT_THAT(package_folders(folder_.path() / "bin/dragoman"), testing::ElementsAre(cu13, nccl, other));
  EXPECT_THAT(package_folders(folder_.path() / "nothing/is/here"), testing::IsEmpty());
  EXPECT_THAT(package_folders(""), testing::IsEmpty());
}

TEST_F(VendorLibraries, ALibraryIsTakenFromTheFirstPackageThatHasIt) {
  const fs::path module = folder_.path() / "site-packages/dragoman/_dragoman.abi3.so";
  make_package("site-packages/nvidia/cu13/lib");
  const VendorLibrary none = load_vendor_library(kName, package_folders(module));
  EXPECT_EQ(none.handle, nullptr);
  EXPECT_THAT(none.problem, testing::HasSubstr(kName));
  const fs::path nccl = make_package_with_library("site-packages/nvidia/nccl/lib");
  const VendorLibrary found = load_vendor_library(kName, package_folders(module));
  ASSERT_NE(found.handle, nullptr) << found.problem;
  EXPECT_EQ(found.problem, "");
  // From now on the process has it, wherever its file is.
  fs::remove_all(nccl);
  EXPECT_EQ(load_vendor_library(kName, {}).handle, found.handle);
  dlclose(found.handle);
}

TEST_F(VendorLibraries, AFileThatIsNoLibraryIsAProblemWithItsName) {
  const fs::path damaged = make_package("site-packages/nvidia/cu13/lib");
  std::ofstream(damaged / "libdragoman_damaged.so.1") << "no library";
  const VendorLibrary library = load_vendor_library("libdragoman_damaged.so.1", {damaged});
  EXPECT_EQ(library.handle, nullptr);
  EXPECT_THAT(library.problem, testing::HasSubstr((damaged / "libdragoman_damaged.so.1").string()));
}

TEST(OwnFile, IsTheProgramOfThisTest) {
  EXPECT_TRUE(fs::equivalent(own_file(), fs::read_symlink("/proc/self/exe"))) << own_file();
}

}  // namespace
}  // namespace dragoman::kernels::cuda
